#include "thread-pool.h"

#include <cerrno>
#include <fcntl.h>
#include <pthread.h>
#include <csignal>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace s3a {

namespace {

constexpr size_t kFaultStride = 64 * 1024;

// Slots lie within a file that was allocated whole. One that is shorter now has lost what was stored behind its end, and
// a write would make it long again, with zeros in that place that look like what was stored.
bool isBeyondItsFile(const Job& job) {
  struct stat status;
  return fstat(job.descriptor, &status) == 0 && status.st_size < job.offset + static_cast<int64_t>(job.length);
}

void transfer(Job& job, bool writing) {
  if (writing && isBeyondItsFile(job)) {
    job.error = EIO;
    return;
  }
  while (job.transferred < job.length) {
    uint8_t* at = job.memory + job.transferred;
    const size_t left = job.length - job.transferred;
    const int64_t offset = job.offset + static_cast<int64_t>(job.transferred);
    const ssize_t moved = writing ? pwrite(job.descriptor, at, left, offset)
                                  : pread(job.descriptor, at, left, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      job.error = moved < 0 ? errno : EIO;
      return;
    }
    job.transferred += static_cast<size_t>(moved);
  }
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

void sync(Job& job) {
  while (fdatasync(job.descriptor) != 0) {
    if (errno == EINTR) continue;
    job.error = errno;
    return;
  }
}

void run(Job& job) {
  switch (job.kind) {
    case JobKind::fault: fault(job); break;
    case JobKind::answer:
    case JobKind::read: transfer(job, false); break;
    case JobKind::write: transfer(job, true); break;
    case JobKind::sync: sync(job); break;
  }
}

}  // namespace

ThreadPool::ThreadPool(size_t threads, int wakeup) : wakeup_(wakeup) {
  // Signals belong to Node's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (size_t i = 0; i < threads; i++) threads_.emplace_back([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::submit(std::unique_ptr<Job> job) {
  pending_++;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(job));
  }
  waiting_.notify_one();
}

void ThreadPool::collect(std::vector<std::unique_ptr<Job>>& into) {
  const std::lock_guard<std::mutex> lock(mutex_);
  pending_ -= done_.size();
  for (std::unique_ptr<Job>& job : done_) into.push_back(std::move(job));
  done_.clear();
}

void ThreadPool::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  waiting_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    waiting_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    std::unique_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run(*job);
    lock.lock();
    done_.push_back(std::move(job));
    const uint64_t one = 1;
    (void)!write(wakeup_, &one, sizeof one);
  }
}

}  // namespace s3a
