#include "file-jobs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "crc32c.h"

namespace s3a {

namespace {

constexpr size_t kFaultStride = 64 * 1024;
constexpr size_t kPage = 4096;
constexpr size_t kChecksumBytes = 256 * 1024;

// Slots lie within a file that was allocated whole. One that is shorter now has lost what was stored behind its end, and
// a write would make it long again, with zeros in that place that look like what was stored.
bool isBeyondItsFile(const Job& job) {
  struct stat status;
  return fstat(job.descriptor, &status) == 0 && status.st_size < job.offset + static_cast<int64_t>(job.length);
}

// Moves all bytes, or says why not: nothing came although there should be more is EIO.
size_t move(Job& job, bool writing, uint8_t* memory, size_t length, int64_t offset) {
  size_t moved = 0;
  while (moved < length) {
    const int64_t at = offset + static_cast<int64_t>(moved);
    const ssize_t step = writing ? pwrite(job.descriptor, memory + moved, length - moved, at)
                                 : pread(job.descriptor, memory + moved, length - moved, at);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) {
      job.error = step < 0 ? errno : EIO;
      break;
    }
    moved += static_cast<size_t>(step);
  }
  return moved;
}

void read(Job& job) { job.transferred = move(job, false, job.memory, job.length, job.offset); }

void write(Job& job) {
  if (isBeyondItsFile(job)) {
    job.error = EIO;
    return;
  }
  job.checksum = crc32c(0, job.memory, job.checked);
  job.transferred = move(job, true, job.memory, job.length, job.offset);
}

// Starts the whole read with one call, then waits for it page by page: the bytes never leave the kernel.
void fault(Job& job) {
  (void)readahead(job.descriptor, job.offset, job.length);
  uint8_t byte;
  for (size_t at = 0; at < job.length; at += kFaultStride) {
    if (pread(job.descriptor, &byte, 1, job.offset + static_cast<int64_t>(at)) < 0) job.error = errno;
  }
  const int64_t last = job.offset + static_cast<int64_t>(job.length) - 1;
  if (pread(job.descriptor, &byte, 1, last) < 0) job.error = errno;
  // While this piece is being sent the disk goes on with the next.
  if (job.ahead > 0) (void)readahead(job.descriptor, last + 1, job.ahead);
}

// In whole pages of aligned memory, so that a descriptor with O_DIRECT asks the disk itself and not the page cache.
void checksum(Job& job) {
  static thread_local const std::unique_ptr<uint8_t, decltype(&std::free)> memory(
      static_cast<uint8_t*>(std::aligned_alloc(kPage, kChecksumBytes)), &std::free);
  if (memory == nullptr) {
    job.error = ENOMEM;
    return;
  }
  while (job.transferred < job.length && job.error == 0) {
    const size_t wanted = std::min(job.length - job.transferred, kChecksumBytes);
    const size_t pages = (wanted + kPage - 1) / kPage * kPage;
    move(job, false, memory.get(), pages, job.offset + static_cast<int64_t>(job.transferred));
    if (job.error != 0) return;
    job.checksum = crc32c(job.checksum, memory.get(), wanted);
    job.transferred += wanted;
  }
}

void allocate(Job& job) {
  do {
    job.error = posix_fallocate(job.descriptor, 0, static_cast<off_t>(job.length));
  } while (job.error == EINTR);
}

void sync(Job& job) {
  for (const Piece& piece : job.pieces) {
    job.transferred += move(job, true, job.owned.bytes.get() + piece.start, piece.length, piece.offset);
    if (job.error != 0) return;
  }
  while (fdatasync(job.descriptor) != 0) {
    if (errno == EINTR) continue;
    job.error = errno;
    return;
  }
}

}  // namespace

void run(Job& job) {
  switch (job.kind) {
    case JobKind::fault: fault(job); break;
    case JobKind::answer:
    case JobKind::read: read(job); break;
    case JobKind::write: write(job); break;
    case JobKind::checksum: checksum(job); break;
    case JobKind::allocate: allocate(job); break;
    case JobKind::sync: sync(job); break;
  }
}

}  // namespace s3a
