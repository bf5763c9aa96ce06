// Accepting, finishing to connect, and receiving into the input arena.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "reactor.h"

namespace s3a {

namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr uint64_t kAcceptPauseMs = 100;
// Heads are read as 32-bit words by some callers.
constexpr size_t kAlignment = 8;

void resetSocket(int descriptor) {
  const struct linger none{1, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  close(descriptor);
}

}  // namespace

void Reactor::acceptFrom(Connection& listener) {
  if (acceptPaused_) return;
  const int32_t id = listener.id;
  for (int i = 0; i < kAcceptsPerTurn; i++) {
    if (!events_.hasRoom()) break;
    const int descriptor = accept4(listener.descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      adopt(descriptor, id);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return;
    // Out of descriptors or memory: trying again at once would spin.
    acceptPaused_ = true;
    uv_timer_start(
        &acceptTimer_,
        [](uv_timer_t* timer) {
          Reactor* reactor = static_cast<Reactor*>(timer->data);
          reactor->acceptPaused_ = false;
          for (const std::unique_ptr<Connection>& slot : reactor->table_.slots()) {
            if (slot->kind == ConnectionKind::listener) reactor->makeReady(*slot);
          }
          reactor->turn();
        },
        kAcceptPauseMs, 0);
    return;
  }
  makeReady(listener);
}

void Reactor::adopt(int descriptor, int32_t listener) {
  Connection* connection =
      open_ < limits_.maxConnections ? table_.add(ConnectionKind::stream, descriptor) : nullptr;
  if (connection == nullptr) {
    counters_.refused++;
    resetSocket(descriptor);
    return;
  }
  if (!watch(*connection)) {
    counters_.refused++;
    table_.release(*connection);
    resetSocket(descriptor);
    return;
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  open_++;
  connection->lastProgressMs = now();
  events_.emit(EventType::accepted, connection->id, listener);
}

void Reactor::finishConnect(Connection& connection) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(connection.descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    depart(connection, CloseReason::error, error);
    return;
  }
  connection.connecting = false;
  connection.lastProgressMs = now();
  events_.emit(EventType::connected, connection.id, 0);
  makeReady(connection);
}

void Reactor::receive(Connection& connection) {
  if (!connection.readable || connection.ended || connection.paused || connection.held || connection.closeAsked) {
    return;
  }
  const size_t start = (inputUsed_ + kAlignment - 1) & ~(kAlignment - 1);
  const size_t retained = connection.retained.length;
  const size_t limit = connection.receiveLimit > 0 ? connection.receiveLimit : limits_.receiveBytes;
  if (!events_.hasRoom() || start + retained + limit > arenas_.input.length) {
    makeReady(connection);
    return;
  }
  uint8_t* const into = arenas_.input.bytes + start;
  const ssize_t got = recv(connection.descriptor, into + retained, limit, 0);
  counters_.receives++;
  if (got <= 0) {
    if (got < 0 && errno == EINTR) {
      makeReady(connection);
    } else if (got < 0 && errno == EAGAIN && connection.writeError == 0) {
      connection.readable = false;
    } else {
      receiveEnd(connection, got < 0 ? errno : 0);
    }
    return;
  }
  if (retained > 0) {
    std::memcpy(into, connection.retained.bytes.get(), retained);
    connection.retained = OwnedBytes();
  }
  const size_t length = retained + static_cast<size_t>(got);
  connection.lastProgressMs = now();
  inputUsed_ = start + length;
  events_.emit(EventType::received, connection.id, static_cast<int32_t>(start), static_cast<int32_t>(length));
  // A short read means drained, unless a FIN or an error stands behind it.
  if (static_cast<size_t>(got) == limit || connection.hungUp || connection.writeError != 0) {
    makeReady(connection);
  } else {
    connection.readable = false;
  }
}

void Reactor::receiveEnd(Connection& connection, int error) {
  // A failed send waited only for what had arrived before it.
  if (connection.writeError != 0) error = connection.writeError;
  if (error != 0) {
    depart(connection, CloseReason::error, error);
    return;
  }
  connection.readable = false;
  connection.ended = true;
  events_.emit(EventType::ended, connection.id, 0);
}

}  // namespace s3a
