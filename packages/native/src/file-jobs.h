// One piece of work that may wait for a disk, and how a thread does it. Bytes come from or go to memory that outlives the job.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "write-queue.h"

namespace s3a {

enum class JobKind : uint8_t {
  /** Brings a file range into the page cache. */
  fault,
  /** Reads a file range behind a head, for an answer that is sent from memory. */
  answer,
  /** Reads into, writes from the fill memory. */
  read,
  write,
  /** Reads a range for nothing but its checksum. */
  checksum,
  /** Gives a file's first `length` bytes their place on the disk. */
  allocate,
  /** Makes a file durable, after writing the pieces that came along. */
  sync,
};

/** A piece of `Job::owned` and its place in the file. */
struct Piece {
  int64_t offset;
  size_t start;
  size_t length;
};

struct Job {
  JobKind kind = JobKind::sync;
  bool eager = false;
  /** answer: it stepped out of its queue, and goes to its end when read. */
  bool deferred = false;
  int descriptor = -1;
  int32_t token = 0;
  /** fault, answer: who waits for it; 0 when that connection died. */
  int32_t connection = 0;
  int64_t offset = 0;
  size_t length = 0;
  /** fault: bytes behind the range whose reading is begun, without waiting for them. */
  size_t ahead = 0;
  uint8_t* memory = nullptr;
  /** answer: head and body. sync: the bytes of all pieces. */
  OwnedBytes owned;
  std::vector<Piece> pieces;
  /** write: the bytes at its beginning that the checksum is of. */
  size_t checked = 0;
  uint32_t checksum = 0;
  int error = 0;
  size_t transferred = 0;
};

/** Does the work, on the calling thread. `error`, `transferred` and `checksum` say what came of it. */
void run(Job& job);

}  // namespace s3a
