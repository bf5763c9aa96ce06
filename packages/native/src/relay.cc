// Bytes from one connection straight to another: socket → pipe → socket, or through memory.
//
// A relay has a place in its target's queue, so bytes may arrive before their turn. They gather in the pipe, and past
// what the pipe takes in memory: the source of a piece up to kRelayPieceBytes is never held up by a target that isn't
// reading. Longer relays keep less and wait for the target. The pipe's bytes always come before the memory's.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "reactor.h"
#include "transfer-sizes.h"

namespace s3a {

void Reactor::advanceRelay(Connection& source) {
  size_t moved = 0;
  while (!source.departed && !source.relays.empty()) {
    if (source.paused || source.held) return;
    Relay& relay = *source.relays.front();
    if (relay.target != 0 && !relay.placed) {
      finishRelay(source, RelayStatus::targetGone);
    } else if (relay.remaining == 0) {
      // Whatever comes after all, a FIN too, raises the socket's edge again.
      if (relay.quiet && source.relays.size() == 1 && !source.hungUp) source.readable = false;
      finishRelay(source, RelayStatus::complete);
    } else if (source.ended) {
      finishRelay(source, RelayStatus::sourceGone);
    } else if (!source.readable || relay.waiting) {
      return;
    } else if (moved >= kTurnBytes) {
      makeReady(source);
      return;
    } else {
      const bool goOn = relay.target == 0 ? discardSome(source, relay, moved)
                        : relay.copy || relay.memoryBytes > 0 ? copyIn(source, relay, moved)
                                                              : spliceIn(source, relay, moved);
      if (!goOn) return;
    }
  }
  if (!source.departed) receive(source);
}

bool Reactor::discardSome(Connection& source, Relay& relay, size_t& moved) {
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(relay.remaining, kTurnBytes));
  const ssize_t got = recv(source.descriptor, nullptr, wanted, MSG_TRUNC);
  counters_.receives++;
  if (got <= 0) return relayEnded(source, got);
  source.lastProgressMs = now();
  moved += static_cast<size_t>(got);
  relay.remaining -= static_cast<uint64_t>(got);
  return true;
}

bool Reactor::spliceIn(Connection& source, Relay& relay, size_t& moved) {
  if (!relay.pipe.open()) relay.pipe = pipes_.take();
  if (!relay.pipe.open()) return copyIn(source, relay, moved);
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(relay.remaining, limits_.pipeBytes));
  const ssize_t got = splice(source.descriptor, nullptr, relay.pipe.writeEnd, nullptr, wanted,
                             SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  counters_.splices++;
  if (got <= 0) {
    // With bytes in the pipe EAGAIN may mean a full pipe or an empty socket: receiving tells.
    if (got < 0 && errno == EAGAIN && relay.inPipe > 0) return copyIn(source, relay, moved);
    if (relay.inPipe == 0) pipes_.giveBack(relay.pipe, true);
    return relayEnded(source, got);
  }
  source.lastProgressMs = now();
  moved += static_cast<size_t>(got);
  relay.inPipe += static_cast<size_t>(got);
  relay.remaining -= static_cast<uint64_t>(got);
  pushTarget(relay);
  return true;
}

bool Reactor::copyIn(Connection& source, Relay& relay, size_t& moved) {
  if (relay.memoryBytes >= relay.memoryLimit) {
    relay.waiting = true;
    return false;
  }
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(relay.remaining, kRelayCopyBytes));
  const ssize_t got = recv(source.descriptor, relayScratch_.get(), wanted, 0);
  counters_.receives++;
  if (got <= 0) return relayEnded(source, got);
  source.lastProgressMs = now();
  moved += static_cast<size_t>(got);
  relay.remaining -= static_cast<uint64_t>(got);
  size_t took = 0;
  Connection& target = *table_.find(relay.target);
  const bool itsTurn = target.queue.front().relay == &relay && relay.drained();
  if (itsTurn && !target.blocked && !target.connecting) {
    const bool more = relay.remaining > 0 || target.queue.size() > 1;
    const ssize_t sent = send(target.descriptor, relayScratch_.get(), static_cast<size_t>(got),
                              MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    counters_.sends++;
    if (sent > 0) {
      took = static_cast<size_t>(sent);
      target.corked = more;
      target.lastProgressMs = now();
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      failSend(target, errno);
      return true;
    }
    if (sent >= 0 ? sent < got : errno == EAGAIN) block(target);
  }
  if (took < static_cast<size_t>(got)) {
    relay.memory.push_back(OwnedBytes::copyOf(relayScratch_.get() + took, static_cast<size_t>(got) - took));
    relay.memoryBytes += static_cast<size_t>(got) - took;
    counters_.copiedBytes += static_cast<double>(static_cast<size_t>(got) - took);
  }
  pushTarget(relay);
  return true;
}

// Sends what the relay holds, when its turn has come. The last bytes go when the relay is finished.
void Reactor::pushTarget(Relay& relay) {
  Connection& target = *table_.find(relay.target);
  const bool itsTurn = !target.blocked && target.queue.front().relay == &relay;
  if (itsTurn && relay.remaining > 0 && !relay.drained()) flush(target);
}

// The source has nothing to read now: what it sent must not wait in the kernel for more.
void Reactor::runDry(Connection& source, Relay& relay) {
  source.readable = false;
  Connection* target = relay.placed ? table_.find(relay.target) : nullptr;
  if (target != nullptr && !target->blocked) uncork(*target);
}

// Receiving returned nothing. Returns whether to try again.
bool Reactor::relayEnded(Connection& source, ssize_t got) {
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && errno == EAGAIN && source.writeError == 0) {
    runDry(source, *source.relays.front());
    return false;
  }
  const int error = got < 0 ? errno : 0;
  abortRelays(source);
  receiveEnd(source, error);
  return false;
}

void Reactor::finishRelay(Connection& source, RelayStatus status) {
  Relay& relay = *source.relays.front();
  source.relays.erase(source.relays.begin());
  relay.receiving = false;
  if (relay.token != 0) {
    events_.emit(EventType::relayed, source.id, relay.token, static_cast<int32_t>(status),
                 static_cast<int32_t>(relay.remaining & 0xffffffff), static_cast<int32_t>(relay.remaining >> 32));
  }
  if (status == RelayStatus::targetGone && !source.held) {
    source.held = true;
    held_.push_back(source.id);
  }
  relay.remaining = 0;
  if (!relay.placed) {
    release(relay);
    return;
  }
  // Its place goes once what was received is sent.
  Connection* target = table_.find(relay.target);
  if (target != nullptr) makeDirty(*target);
}

void Reactor::abortRelays(Connection& source) {
  while (!source.relays.empty()) finishRelay(source, RelayStatus::sourceGone);
}

// The place in the target's queue is gone: everything was sent, or the target was.
void Reactor::leaveQueue(Relay& relay) {
  relay.placed = false;
  pipes_.giveBack(relay.pipe, relay.inPipe == 0);
  relay.inPipe = 0;
  relay.memory.clear();
  relay.memoryHead = 0;
  relay.memoryOffset = 0;
  relay.memoryBytes = 0;
  relay.waiting = false;
  if (!relay.receiving) {
    release(relay);
    return;
  }
  Connection* source = table_.find(relay.source);
  if (source != nullptr) makeReady(*source);
}

void Reactor::release(Relay& relay) {
  pipes_.giveBack(relay.pipe, relay.inPipe == 0);
  freeRelays_.push_back(&relay);
}

}  // namespace s3a
