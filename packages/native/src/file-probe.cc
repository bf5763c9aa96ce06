#include "file-probe.h"

#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>

namespace s3a {

namespace {

// The kernel's usual read-ahead: what one sequential reader brings in at once.
constexpr size_t kProbeStride = 128 * 1024;
constexpr int64_t kPageBytes = 4096;

ssize_t readNow(int descriptor, void* into, size_t length, int64_t offset) {
  iovec vector{into, length};
  for (;;) {
    const ssize_t got = preadv2(descriptor, &vector, 1, offset, RWF_NOWAIT);
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace

size_t residentBytes(int descriptor, int64_t offset, size_t length) {
  uint8_t byte;
  int64_t asked = 0;
  for (size_t at = 0; at < length; at += kProbeStride) {
    asked = offset + static_cast<int64_t>(at);
    if (readNow(descriptor, &byte, 1, asked) < 0) return errno == EAGAIN ? at : length;
  }
  const int64_t last = offset + static_cast<int64_t>(length) - 1;
  if (last / kPageBytes == asked / kPageBytes) return length;
  if (readNow(descriptor, &byte, 1, last) < 0 && errno == EAGAIN) return static_cast<size_t>(asked - offset);
  return length;
}

int64_t readResident(int descriptor, uint8_t* into, size_t length, int64_t offset) {
  const ssize_t got = readNow(descriptor, into, length, offset);
  if (got >= 0) return got;
  if (errno != EOPNOTSUPP) return -errno;
  // Memory file systems refuse the flag; they have no disk to wait for.
  const ssize_t plain = pread(descriptor, into, length, offset);
  return plain >= 0 ? plain : -errno;
}

}  // namespace s3a
