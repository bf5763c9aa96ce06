// Does this file system keep pages that were lent to a socket as they were, when the file is overwritten?
//
// sendfile and splice hand out references to page-cache pages. With O_DIRECT a good file system drops those pages
// from the cache and writes beside them; others write into them, and a slow client would receive somebody else's
// bytes. Nothing but trying tells.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "addon.h"
#include "arguments.h"

namespace s3a {

namespace {

// Fits the default buffers of a loopback connection and of a pipe.
constexpr size_t kLent = 32 * 1024;
constexpr uint8_t kOldByte = 0x6f;
constexpr uint8_t kNewByte = 0x95;

/** A descriptor that closes itself. */
struct Descriptor {
  int number;
  explicit Descriptor(int opened = -1) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

/** A file in the directory, removed at the end. */
struct TrialFile {
  std::string path;
  explicit TrialFile(std::string pattern) : path(std::move(pattern)) {}
  ~TrialFile() { unlink(path.c_str()); }
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;
};

int connectPair(Descriptor& sender, Descriptor& receiver) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener.number < 0 || bind(listener.number, generic, length) != 0 || listen(listener.number, 1) != 0 ||
      getsockname(listener.number, generic, &length) != 0) {
    return errno;
  }
  sender.number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sender.number < 0 || connect(sender.number, generic, length) != 0) return errno;
  receiver.number = accept4(listener.number, nullptr, nullptr, SOCK_CLOEXEC);
  if (receiver.number < 0) return errno;
  // Neither side may ever wait for long: a stack that doesn't take the bytes fails the trial.
  const timeval patience{5, 0};
  setsockopt(sender.number, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(receiver.number, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return 0;
}

int overwrite(int direct, uint8_t* memory, uint8_t byte) {
  std::memset(memory, byte, kLent);
  const ssize_t wrote = pwrite(direct, memory, kLent, 0);
  if (wrote == static_cast<ssize_t>(kLent)) return 0;
  return wrote < 0 ? errno : EIO;
}

int lendToSocket(int file, int sender) {
  off_t offset = 0;
  while (offset < static_cast<off_t>(kLent)) {
    const ssize_t sent = sendfile(sender, file, &offset, kLent - static_cast<size_t>(offset));
    if (sent <= 0) return sent < 0 ? errno : EIO;
  }
  return 0;
}

int moveAll(int from, loff_t* offset, int to) {
  size_t moved = 0;
  while (moved < kLent) {
    const ssize_t step = splice(from, offset, to, nullptr, kLent - moved, SPLICE_F_MOVE);
    if (step <= 0) return step < 0 ? errno : EIO;
    moved += static_cast<size_t>(step);
  }
  return 0;
}

int countOld(int receiver, size_t& old) {
  std::vector<uint8_t> bytes(kLent);
  size_t got = 0;
  while (got < kLent) {
    const ssize_t step = recv(receiver, bytes.data() + got, kLent - got, 0);
    if (step <= 0) return step < 0 ? errno : EIO;
    got += static_cast<size_t>(step);
  }
  old = 0;
  for (const uint8_t byte : bytes) old += byte == kOldByte ? 1 : 0;
  return 0;
}

/** Lends pages to a socket, or to a pipe and from there to a socket; returns 1 kept, 0 changed, -errno. */
int tryOnce(int direct, int file, uint8_t* memory, bool throughPipe) {
  Descriptor sender, receiver;
  int error = connectPair(sender, receiver);
  if (error == 0) error = overwrite(direct, memory, kOldByte);
  if (error != 0) return -error;
  int ends[2] = {-1, -1};
  if (throughPipe && pipe2(ends, O_CLOEXEC) != 0) return -errno;
  const Descriptor readEnd(ends[0]), writeEnd(ends[1]);
  loff_t offset = 0;
  error = throughPipe ? moveAll(file, &offset, writeEnd.number) : lendToSocket(file, sender.number);
  if (error == 0) error = overwrite(direct, memory, kNewByte);
  if (error == 0 && throughPipe) error = moveAll(readEnd.number, nullptr, sender.number);
  size_t old = 0;
  if (error == 0) error = countOld(receiver.number, old);
  if (error != 0) return -error;
  // And who reads the file now must see the new bytes.
  uint8_t now = 0;
  if (pread(file, &now, 1, 0) != 1) return -EIO;
  return old == kLent && now == kNewByte ? 1 : 0;
}

int tryDirectory(const std::string& directory) {
  TrialFile trial(directory + "/lent-pages-XXXXXX");
  const Descriptor made(mkostemp(trial.path.data(), O_CLOEXEC));
  if (made.number < 0) return -errno;
  const Descriptor direct(open(trial.path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
  if (direct.number < 0) return -errno;
  const Descriptor file(open(trial.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return -errno;
  void* memory = mmap(nullptr, kLent, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -errno;
  int kept = 1;
  for (const bool throughPipe : {false, true}) {
    if (kept == 1) kept = tryOnce(direct.number, file.number, static_cast<uint8_t*>(memory), throughPipe);
  }
  munmap(memory, kLent);
  return kept;
}

}  // namespace

napi_value lentPagesSurvive(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string directory = arguments.text(0, "directory");
  if (!arguments.ok()) return nullptr;
  return numberValue(env, tryDirectory(directory));
}

}  // namespace s3a
