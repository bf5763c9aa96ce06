// Empty pipes for splice, reused because making one costs more than a small answer.
//
// Invariant: only empty pipes come back; one that still holds bytes is closed, so no answer can ever leak into
// another. A pipe counts slots, not bytes: many small packets fill it long before its size in bytes is reached.
#pragma once
#include <cstddef>
#include <vector>

namespace s3a {

struct Pipe {
  int readEnd = -1;
  int writeEnd = -1;
  bool open() const { return readEnd >= 0; }
};

class PipePool {
 public:
  PipePool(size_t maxPipes, size_t bytes) : maxPipes_(maxPipes), bytes_(bytes) {}
  ~PipePool();
  PipePool(const PipePool&) = delete;
  PipePool& operator=(const PipePool&) = delete;

  /** A closed pipe when all are taken or the process is out of descriptors: copy then. */
  Pipe take();
  void giveBack(Pipe& pipe, bool empty);
  size_t count() const { return count_; }

 private:
  size_t maxPipes_;
  size_t bytes_;
  size_t count_ = 0;
  std::vector<Pipe> idle_;
};

}  // namespace s3a
