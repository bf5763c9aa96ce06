#include "pipe-pool.h"

#include <fcntl.h>
#include <unistd.h>

namespace s3a {

namespace {
// The kernel's default size; a smaller pipe costs more calls than copying.
constexpr int kLeastBytes = 64 * 1024;

void closePipe(Pipe& pipe) {
  close(pipe.readEnd);
  close(pipe.writeEnd);
  pipe = Pipe();
}
}  // namespace

PipePool::~PipePool() {
  for (Pipe& pipe : idle_) closePipe(pipe);
}

Pipe PipePool::take() {
  if (!idle_.empty()) {
    Pipe pipe = idle_.back();
    idle_.pop_back();
    return pipe;
  }
  int ends[2];
  if (count_ >= maxPipes_ || pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return Pipe();
  Pipe pipe{ends[0], ends[1]};
  // Past the user's quota of pipe pages the kernel refuses to enlarge a pipe, and hands out crippled ones of two pages.
  if (fcntl(pipe.writeEnd, F_SETPIPE_SZ, static_cast<int>(bytes_)) < 0 &&
      fcntl(pipe.writeEnd, F_GETPIPE_SZ) < kLeastBytes) {
    closePipe(pipe);
    return pipe;
  }
  count_++;
  return pipe;
}

void PipePool::giveBack(Pipe& pipe, bool empty) {
  if (!pipe.open()) return;
  if (empty) {
    idle_.push_back(pipe);
    pipe = Pipe();
  } else {
    closePipe(pipe);
    count_--;
  }
}

}  // namespace s3a
