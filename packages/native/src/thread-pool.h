// Threads that do what may wait for a disk, and hand finished jobs back to the loop through an eventfd.
//
// Invariants: a job belongs to the pool from `submit` until `collect` returns it, and is touched by one thread at a
// time. `stop` finishes jobs that run, drops those that wait, and joins.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "file-jobs.h"

namespace s3a {

class ThreadPool {
 public:
  /** `wakeup` is an eventfd that is written whenever a job is done. */
  ThreadPool(size_t threads, int wakeup);
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void submit(std::unique_ptr<Job> job);
  /** Appends the jobs that are done. */
  void collect(std::vector<std::unique_ptr<Job>>& into);
  size_t pending() const { return pending_; }
  void stop();

 private:
  void work();

  int wakeup_;
  /** Submitted and not collected; the loop's thread alone touches it. */
  size_t pending_ = 0;
  bool stopping_ = false;
  std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<std::unique_ptr<Job>> queue_;
  std::vector<std::unique_ptr<Job>> done_;
  std::vector<std::thread> threads_;
};

}  // namespace s3a
