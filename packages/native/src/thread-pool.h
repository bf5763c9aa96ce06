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

#include "write-queue.h"

namespace s3a {

enum class JobKind : uint8_t {
  /** Brings a file range into the page cache. */
  fault,
  /** Reads a file range behind a head, for an answer that is sent from memory. */
  answer,
  /** Reads into, writes from the fill memory; syncs. */
  read,
  write,
  sync,
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
  /** answer: head and body. */
  OwnedBytes owned;
  int error = 0;
  size_t transferred = 0;
};

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
