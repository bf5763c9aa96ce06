#include "pipe-pool.h"

#include <fcntl.h>
#include <unistd.h>

namespace s3a {

namespace {
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
  // Past the user's pipe quota the kernel refuses: the pipe works at its default size as well.
  (void)fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(bytes_));
  count_++;
  return Pipe{ends[0], ends[1]};
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
