// The loop: what wakes it, what a round does, and how a batch is delivered.
#include "reactor.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transfer-sizes.h"

namespace s3a {

namespace {
constexpr int kPollEvents = 512;
constexpr uint64_t kDeliveryDelayMs = 5;
constexpr uint64_t kSweepMs = 200;
// No connection has this id: it marks the eventfd.
constexpr uint64_t kWakeupMark = 0;
}  // namespace

Reactor::Reactor(uv_loop_t* loop, const Arenas& arenas, const Limits& limits, Deliver deliver, Complain complain)
    : loop_(loop),
      arenas_(arenas),
      limits_(limits),
      deliver_(std::move(deliver)),
      complain_(std::move(complain)),
      events_(arenas.events, arenas.eventWords),
      pipes_(limits.maxPipes, limits.pipeBytes),
      scratch_(new uint8_t[kScratchBytes]),
      relayScratch_(new uint8_t[kRelayCopyBytes]) {}

Reactor::~Reactor() {
  if (epoll_ >= 0) close(epoll_);
  if (wakeup_ >= 0) close(wakeup_);
}

int Reactor::start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return errno;
  wakeup_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wakeup_ < 0) return errno;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kWakeupMark;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) != 0) return errno;
  readers_ = std::make_unique<ThreadPool>(limits_.readThreads, wakeup_);
  writers_ = std::make_unique<ThreadPool>(limits_.writeThreads, wakeup_);
  syncers_ = std::make_unique<ThreadPool>(limits_.syncThreads, wakeup_);

  const int polled = uv_poll_init(loop_, &poll_, epoll_);
  if (polled != 0) return -polled;
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<Reactor*>(handle->data)->turn();
  });
  for (uv_timer_t* timer : {&deliveryTimer_, &sweepTimer_, &acceptTimer_}) {
    uv_timer_init(loop_, timer);
    timer->data = this;
    // The poll handle alone keeps the process alive.
    uv_unref(reinterpret_cast<uv_handle_t*>(timer));
  }
  openHandles_ = 4;
  uv_timer_start(
      &sweepTimer_, [](uv_timer_t* timer) { static_cast<Reactor*>(timer->data)->sweep(); }, kSweepMs, kSweepMs);
  return 0;
}

void Reactor::stop(std::function<void()> closed) {
  if (stopping_) return;
  stopping_ = true;
  stopped_ = std::move(closed);
  readers_->stop();
  writers_->stop();
  syncers_->stop();
  for (const std::unique_ptr<Connection>& slot : table_.slots()) {
    if (slot->kind != ConnectionKind::free && slot->descriptor >= 0) close(slot->descriptor);
    slot->descriptor = -1;
  }
  for (const std::unique_ptr<Relay>& relay : relays_) pipes_.giveBack(relay->pipe, false);
  uv_poll_stop(&poll_);
  const auto onClosed = [](uv_handle_t* handle) {
    Reactor* reactor = static_cast<Reactor*>(handle->data);
    if (--reactor->openHandles_ == 0) reactor->stopped_();
  };
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), onClosed);
  for (uv_timer_t* timer : {&deliveryTimer_, &sweepTimer_, &acceptTimer_}) {
    uv_close(reinterpret_cast<uv_handle_t*>(timer), onClosed);
  }
}

bool Reactor::watch(Connection& connection) {
  epoll_event event{};
  event.events = connection.kind == ConnectionKind::listener ? EPOLLIN | EPOLLET
                                                             : EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = static_cast<uint64_t>(connection.id);
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.descriptor, &event) == 0;
}

void Reactor::makeReady(Connection& connection) {
  if (connection.inReady) return;
  connection.inReady = true;
  ready_.push_back(connection.id);
}

void Reactor::makeDirty(Connection& connection) {
  if (connection.inDirty) return;
  connection.inDirty = true;
  dirty_.push_back(connection.id);
}

void Reactor::turn() {
  if (inTurn_ || stopping_) return;
  inTurn_ = true;
  for (size_t round = 0; round < limits_.maxRounds; round++) {
    counters_.rounds++;
    pollSockets();
    serveReady();
    flushDirty();
    emitDepartures();
    if (events_.urgent()) {
      deliver();
      if (stopping_) break;
    } else if (ready_.empty()) {
      break;
    }
  }
  inTurn_ = false;
  if (stopping_) return;
  if (!ready_.empty() || events_.urgent() || !departed_.empty()) {
    kick();
  } else {
    armDelivery();
  }
}

void Reactor::pollSockets() {
  epoll_event polled[kPollEvents];
  const int count = epoll_wait(epoll_, polled, kPollEvents, 0);
  for (int i = 0; i < count; i++) {
    if (polled[i].data.u64 == kWakeupMark) {
      uint64_t kicks;
      (void)!read(wakeup_, &kicks, sizeof kicks);
      collectJobs();
      continue;
    }
    Connection* connection = table_.find(static_cast<int32_t>(polled[i].data.u64));
    if (connection != nullptr && !connection->departed) noteEdges(*connection, polled[i].events);
  }
}

void Reactor::noteEdges(Connection& connection, uint32_t edges) {
  if (connection.kind == ConnectionKind::listener) {
    makeReady(connection);
    return;
  }
  if (connection.connecting) {
    if ((edges & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
    finishConnect(connection);
    if (connection.departed) return;
  }
  if ((edges & EPOLLOUT) != 0 && connection.blocked) {
    connection.blocked = false;
    makeReady(connection);
  }
  if ((edges & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) connection.hungUp = true;
  if ((edges & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    connection.readable = true;
    makeReady(connection);
  }
  // An error is found by reading what came before it; nobody reads a connection that ended, waits or closes.
  const bool unread = connection.paused || connection.ended || connection.closeAsked;
  if ((edges & EPOLLERR) != 0 && unread) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(connection.descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    const CloseReason reason = connection.lingering ? CloseReason::asked : CloseReason::error;
    depart(connection, reason, connection.lingering ? 0 : (error != 0 ? error : ECONNRESET));
  }
}

void Reactor::serveReady() {
  serving_.swap(ready_);
  for (const int32_t id : serving_) {
    Connection* connection = table_.find(id);
    if (connection == nullptr) continue;
    connection->inReady = false;
    if (!connection->departed) serve(*connection);
  }
  serving_.clear();
}

void Reactor::serve(Connection& connection) {
  if (connection.kind == ConnectionKind::listener) {
    acceptFrom(connection);
    return;
  }
  if (connection.connecting) return;
  if (connection.lingering) {
    linger(connection);
    return;
  }
  if (!connection.blocked && !connection.queue.empty()) flush(connection);
  if (connection.departed || connection.lingering) return;
  if (!connection.relays.empty()) {
    advanceRelay(connection);
  } else {
    receive(connection);
  }
}

void Reactor::collectJobs() {
  readers_->collect(jobsDone_);
  writers_->collect(jobsDone_);
  syncers_->collect(jobsDone_);
  std::vector<std::unique_ptr<Job>> done;
  done.swap(jobsDone_);
  for (std::unique_ptr<Job>& job : done) {
    switch (job->kind) {
      case JobKind::fault: faulted(std::move(job)); break;
      case JobKind::answer: answerRead(std::move(job)); break;
      case JobKind::read:
      case JobKind::write:
      case JobKind::checksum:
      case JobKind::allocate:
      case JobKind::sync:
        events_.emit(EventType::disk, 0, job->token, job->error, static_cast<int32_t>(job->transferred),
                     static_cast<int32_t>(job->checksum));
        break;
    }
  }
}

void Reactor::deliver() {
  const size_t count = events_.count();
  counters_.batches++;
  counters_.events += static_cast<double>(count);
  const std::vector<int32_t> held = std::move(held_);
  held_.clear();
  events_.beginDelivery();
  deliver_(count);
  if (stopping_) return;
  const std::string wrong = execute();
  inputUsed_ = 0;
  events_.endDelivery();
  releaseDeparted();
  for (const int32_t id : held) {
    Connection* connection = table_.find(id);
    if (connection == nullptr || connection->departed) continue;
    connection->held = false;
    makeReady(*connection);
  }
  if (!wrong.empty()) complain_(wrong);
}

void Reactor::kick() {
  const uint64_t one = 1;
  (void)!::write(wakeup_, &one, sizeof one);
}

void Reactor::armDelivery() {
  if (deliveryArmed_ || events_.empty()) return;
  deliveryArmed_ = true;
  uv_timer_start(
      &deliveryTimer_,
      [](uv_timer_t* timer) {
        Reactor* reactor = static_cast<Reactor*>(timer->data);
        reactor->deliveryArmed_ = false;
        reactor->events_.makeUrgent();
        reactor->turn();
      },
      kDeliveryDelayMs, 0);
}

size_t Reactor::queuedBytes() const {
  size_t bytes = 0;
  for (const std::unique_ptr<Connection>& slot : table_.slots()) {
    bytes += slot->retained.length;
    for (size_t i = 0; i < slot->queue.size(); i++) bytes += slot->queue.at(i).owned.length;
    for (const Job* job : slot->deferred) bytes += job->owned.length;
  }
  for (const std::unique_ptr<Relay>& relay : relays_) bytes += relay->memoryBytes;
  return bytes;
}

void Reactor::stats(double* into) const {
  const double all[] = {counters_.rounds,     counters_.batches,   counters_.events,    counters_.commands,
                        counters_.receives,   counters_.sends,     counters_.sendFiles, counters_.splices,
                        counters_.fileReads,  counters_.coldReads, counters_.wouldBlock, counters_.copiedBytes,
                        counters_.diskWrites, counters_.refused,   static_cast<double>(open_),
                        static_cast<double>(pipes_.count()), static_cast<double>(queuedBytes())};
  std::copy(std::begin(all), std::end(all), into);
}

}  // namespace s3a
