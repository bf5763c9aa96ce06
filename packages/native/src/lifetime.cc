// How connections end: at once, after everything was sent, by a deadline; and how their slots become free again.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "reactor.h"
#include "transfer-sizes.h"

namespace s3a {

namespace {
constexpr uint64_t kSweepLateMs = 600;
}  // namespace

void Reactor::depart(Connection& connection, CloseReason reason, int error) {
  if (connection.departed) return;
  connection.departed = true;
  connection.reason = reason;
  connection.error = error;
  close(connection.descriptor);
  connection.descriptor = -1;
  open_--;
  if (connection.connecting) {
    events_.emit(EventType::connected, connection.id, error != 0 ? error : ECANCELED);
  }
  abortRelays(connection);
  dropQueue(connection, error != 0 ? error : ECANCELED);
  connection.retained = OwnedBytes();
  departed_.push_back(connection.id);
}

// A failure that was noticed while there was still something to read is found by reading on, which ends here.
void Reactor::pause(Connection& connection) {
  connection.paused = true;
  int error = connection.writeError;
  if (error == 0 && connection.hungUp && !connection.connecting) {
    socklen_t length = sizeof error;
    getsockopt(connection.descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error != 0) depart(connection, CloseReason::error, error);
}

void Reactor::closeAtOnce(Connection& connection) {
  const struct ::linger none{1, 0};
  setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  depart(connection, CloseReason::asked, 0);
}

void Reactor::closeGently(Connection& connection) {
  if (connection.closeAsked) return;
  connection.closeAsked = true;
  abortRelays(connection);
  connection.retained = OwnedBytes();
  if (connection.connecting || connection.writeError != 0) {
    depart(connection, CloseReason::asked, 0);
  } else {
    makeDirty(connection);
  }
}

// Closing a socket that holds unread bytes sends a reset, which can destroy an answer that the peer hasn't read
// yet. So the FIN goes first, and what still arrives is dropped until the peer's own FIN, within bounds.
void Reactor::linger(Connection& connection) {
  if (!connection.lingering) {
    connection.lingering = true;
    connection.lingerUntilMs = now() + kLingerMs;
    connection.readable = true;
    if (!connection.shutdownDone) ::shutdown(connection.descriptor, SHUT_WR);
    connection.shutdownDone = true;
  }
  while (!connection.ended && connection.lingeredBytes < kLingerBytes) {
    const ssize_t dropped = recv(connection.descriptor, nullptr, kLingerBytes, MSG_TRUNC);
    if (dropped > 0) {
      connection.lingeredBytes += static_cast<size_t>(dropped);
      continue;
    }
    if (dropped < 0 && errno == EINTR) continue;
    if (dropped < 0 && errno == EAGAIN) return;
    break;
  }
  depart(connection, CloseReason::asked, 0);
}

void Reactor::emitDepartures() {
  size_t told = 0;
  while (told < departed_.size() && events_.hasRoom()) {
    const Connection* connection = table_.find(departed_[told]);
    told++;
    events_.emit(EventType::closed, connection->id, static_cast<int32_t>(connection->reason), connection->error);
    told_.push_back(connection->id);
  }
  departed_.erase(departed_.begin(), departed_.begin() + static_cast<ptrdiff_t>(told));
}

// Called after a batch. A token that came back after `closed` was emitted is delivered with the next batch, and
// until then the id must not name somebody else.
void Reactor::releaseDeparted() {
  size_t kept = 0;
  for (const int32_t id : told_) {
    Connection* connection = table_.find(id);
    if (connection->lateToken) {
      connection->lateToken = false;
      told_[kept++] = id;
    } else {
      table_.release(*connection);
    }
  }
  told_.resize(kept);
}

void Reactor::sweep() {
  const uint64_t time = now();
  // After a stall of the loop what arrived meanwhile must be read first: nobody was idle but us.
  const bool late = time - lastSweepMs_ > kSweepLateMs;
  lastSweepMs_ = time;
  if (late) return;
  for (const std::unique_ptr<Connection>& slot : table_.slots()) {
    Connection& connection = *slot;
    if (connection.kind != ConnectionKind::stream || connection.departed) continue;
    if (connection.lingering && time >= connection.lingerUntilMs) {
      depart(connection, CloseReason::asked, 0);
    } else if (connection.deadlineMs > 0 && time - connection.lastProgressMs >= connection.deadlineMs) {
      depart(connection, CloseReason::idle, connection.connecting ? ETIMEDOUT : 0);
    }
  }
  if (!departed_.empty() || !dirty_.empty() || !ready_.empty()) turn();
}

}  // namespace s3a
