#include "thread-pool.h"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

namespace s3a {

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
