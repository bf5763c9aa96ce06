// Sending what is queued on a connection, in order, with as few calls as possible.
//
// Consecutive pieces of memory and copied file ranges (read into scratch memory without waiting for the disk) leave
// with one sendmsg, so one call carries many answers on a multiplexed link. A file range for sendfile and a relay's
// pipe have calls of their own; what comes before them says MSG_MORE.
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "file-probe.h"
#include "reactor.h"
#include "transfer-sizes.h"

namespace s3a {

/** What the next sendmsg takes. */
struct Reactor::Gathered {
  iovec vectors[kMaxVectors];
  size_t count = 0;
  size_t bytes = 0;
  size_t scratchUsed = 0;
  bool more = false;

  bool full() const { return count + 2 > kMaxVectors || bytes >= kScratchBytes; }
  void add(const uint8_t* from, size_t length) {
    if (length == 0) return;
    vectors[count++] = iovec{const_cast<uint8_t*>(from), length};
    bytes += length;
  }
};

namespace {

// sendfile reports what is wrong with the file and what is wrong with the socket in the same way.
bool isFileError(int error) {
  return error == EIO || error == EINVAL || error == EBADF || error == EOVERFLOW || error == EISDIR ||
         error == ESPIPE || error == ENXIO;
}

bool endsAfter(int descriptor, int64_t end) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && status.st_size < end;
}

}  // namespace

void Reactor::flush(Connection& connection) {
  if (connection.connecting || connection.blocked || connection.lingering) return;
  size_t sent = 0;
  while (!connection.queue.empty()) {
    if (sent >= kTurnBytes) {
      makeReady(connection);
      break;
    }
    if (!sendSome(connection, sent)) break;
  }
  if (sent > 0) connection.lastProgressMs = now();
  if (connection.departed || connection.blocked) return;
  if (connection.queue.empty()) {
    uncork(connection);
    whenDrained(connection);
    return;
  }
  // A relay that is still receiving is pushed out when its source runs dry.
  const Relay* relay = connection.queue.front().relay;
  if (relay == nullptr || !relay->receiving) uncork(connection);
}

// Returns whether it makes sense to go on.
bool Reactor::sendSome(Connection& connection, size_t& sent) {
  Segment& front = connection.queue.front();
  switch (front.kind) {
    case SegmentKind::none:
    case SegmentKind::mark: finishSegment(connection); return true;
    case SegmentKind::file: return sendFilePiece(connection, sent);
    case SegmentKind::relay:
      if (front.relay->memoryBytes == 0 || front.relay->inPipe > 0) return sendRelay(connection, sent);
      return sendVectors(connection, sent);
    case SegmentKind::memory:
    case SegmentKind::copy: return sendVectors(connection, sent);
  }
  return false;
}

bool Reactor::sendVectors(Connection& connection, size_t& sent) {
  Gathered gathered;
  gather(connection, gathered);
  if (connection.departed) return false;
  if (gathered.count == 0) {
    // The front waits for a read, or it was refused or stepped aside just now.
    const SegmentKind kind = connection.queue.front().kind;
    return kind == SegmentKind::none || kind == SegmentKind::mark;
  }
  msghdr message{};
  message.msg_iov = gathered.vectors;
  message.msg_iovlen = gathered.count;
  const ssize_t took =
      sendmsg(connection.descriptor, &message, MSG_NOSIGNAL | (gathered.more ? MSG_MORE : 0));
  counters_.sends++;
  if (took < 0) {
    if (errno == EINTR) return true;
    if (errno == EAGAIN) {
      block(connection);
    } else {
      failSend(connection, errno);
    }
    return false;
  }
  connection.corked = gathered.more;
  sent += static_cast<size_t>(took);
  consume(connection, static_cast<size_t>(took));
  if (static_cast<size_t>(took) < gathered.bytes) {
    block(connection);
    return false;
  }
  return true;
}

void Reactor::gather(Connection& connection, Gathered& gathered) {
  WriteQueue& queue = connection.queue;
  for (size_t i = 0; i < queue.size() && !gathered.full(); i++) {
    Segment& segment = queue.at(i);
    switch (segment.kind) {
      case SegmentKind::none:
      case SegmentKind::mark: break;
      case SegmentKind::memory: gathered.add(segment.bytes, segment.length); break;
      case SegmentKind::copy:
        if (!gatherCopy(connection, segment, gathered)) return;
        break;
      case SegmentKind::file: gathered.more = true; return;
      case SegmentKind::relay: {
        const Relay& relay = *segment.relay;
        if (relay.inPipe > 0) {
          gathered.more = true;
          return;
        }
        size_t offset = relay.memoryOffset;
        for (size_t chunk = relay.memoryHead; chunk < relay.memory.size(); chunk++) {
          if (gathered.full()) return;
          gathered.add(relay.memory[chunk].bytes.get() + offset, relay.memory[chunk].length - offset);
          offset = 0;
        }
        if (relay.remaining > 0) {
          // Its first bytes join what goes before them; should there be none after all, running dry pushes that out.
          const Connection* source = table_.find(relay.source);
          gathered.more = source != nullptr && source->readable && !source->paused;
          return;
        }
        break;
      }
    }
  }
}

// Returns whether segments behind this one may leave with the same call.
bool Reactor::gatherCopy(Connection& connection, Segment& segment, Gathered& gathered) {
  if (segment.job != nullptr) return false;
  // Memory that a reader thread filled, or what was left of a piece: it goes before the rest of the range.
  if (segment.started && segment.length > 0) {
    gathered.add(segment.bytes, segment.length);
    return segment.fileLength == 0;
  }
  const size_t piece = std::min(segment.fileLength, kScratchBytes);
  if (gathered.scratchUsed + piece > kScratchBytes) return false;
  const int64_t end = segment.offset + static_cast<int64_t>(segment.fileLength);
  if (segment.fileLength > piece && !segment.started && endsAfter(segment.descriptor, end)) {
    refuse(connection, segment, EIO);
    return !connection.departed;
  }
  uint8_t* const into = scratch_.get() + gathered.scratchUsed;
  const int64_t got = readResident(segment.descriptor, into, piece, segment.offset);
  counters_.fileReads++;
  if (got != static_cast<int64_t>(piece)) {
    if (got < 0 && got != -EAGAIN) {
      refuse(connection, segment, static_cast<int>(-got));
      return !connection.departed;
    }
    readCold(connection, segment);
    return segment.kind == SegmentKind::none;
  }
  segment.body = into;
  segment.bodyLength = piece;
  gathered.scratchUsed += piece;
  gathered.add(segment.bytes, segment.length);
  gathered.add(into, piece);
  return piece == segment.fileLength;
}

bool Reactor::sendFilePiece(Connection& connection, size_t& sent) {
  Segment& segment = connection.queue.front();
  if (segment.job != nullptr) return false;
  if (segment.offset >= segment.warmUntil) {
    const size_t piece = std::min(segment.fileLength, kFilePieceBytes);
    const size_t warm = residentBytes(segment.descriptor, segment.offset, piece);
    if (warm == 0) {
      readCold(connection, segment);
      return false;
    }
    segment.warmUntil = segment.offset + static_cast<int64_t>(warm);
  }
  const size_t length = std::min(segment.fileLength, static_cast<size_t>(segment.warmUntil - segment.offset));
  off_t offset = segment.offset;
  const ssize_t took = sendfile(connection.descriptor, segment.descriptor, &offset, length);
  counters_.sendFiles++;
  if (took <= 0) {
    if (took < 0 && errno == EINTR) return true;
    if (took < 0 && errno == EAGAIN) {
      // Until the peer reads on, the pages may go.
      segment.warmUntil = 0;
      block(connection);
    } else if (took == 0 || isFileError(errno)) {
      depart(connection, CloseReason::file, took == 0 ? EIO : errno);
    } else {
      failSend(connection, errno);
    }
    return false;
  }
  connection.corked = false;
  sent += static_cast<size_t>(took);
  segment.offset += took;
  segment.fileLength -= static_cast<size_t>(took);
  if (segment.fileLength == 0) finishSegment(connection);
  return true;
}

// The front is a relay whose pipe holds bytes, or that holds nothing at all.
bool Reactor::sendRelay(Connection& connection, size_t& sent) {
  Relay& relay = *connection.queue.front().relay;
  if (relay.inPipe == 0) {
    if (relay.remaining > 0) return false;
    finishSegment(connection);
    return true;
  }
  const bool more = relay.remaining > 0 || relay.memoryBytes > 0 || connection.queue.size() > 1;
  const ssize_t took = splice(relay.pipe.readEnd, nullptr, connection.descriptor, nullptr, relay.inPipe,
                              SPLICE_F_NONBLOCK | SPLICE_F_MOVE | (more ? SPLICE_F_MORE : 0));
  counters_.splices++;
  if (took <= 0) {
    if (took < 0 && errno == EINTR) return true;
    if (took < 0 && errno == EAGAIN) {
      block(connection);
    } else {
      failSend(connection, took == 0 ? EPIPE : errno);
    }
    return false;
  }
  connection.corked = more;
  sent += static_cast<size_t>(took);
  relay.inPipe -= static_cast<size_t>(took);
  if (relay.inPipe == 0) pipes_.giveBack(relay.pipe, true);
  return true;
}

void Reactor::consume(Connection& connection, size_t bytes) {
  while (!connection.queue.empty()) {
    Segment& front = connection.queue.front();
    switch (front.kind) {
      case SegmentKind::none:
      case SegmentKind::mark: break;
      case SegmentKind::memory: {
        const size_t took = std::min(bytes, front.length);
        front.bytes += took;
        front.length -= took;
        bytes -= took;
        if (front.length > 0) return;
        break;
      }
      case SegmentKind::copy:
        if (bytes == 0) return;
        takeCopy(front, bytes);
        if (front.length > 0 || front.fileLength > 0) return;
        break;
      case SegmentKind::file: return;
      case SegmentKind::relay:
        takeRelay(*front.relay, bytes);
        if (!front.relay->drained() || front.relay->remaining > 0) return;
        break;
    }
    finishSegment(connection);
  }
}

void Reactor::takeCopy(Segment& segment, size_t& bytes) {
  segment.started = true;
  const size_t fromHead = std::min(bytes, segment.length);
  segment.bytes += fromHead;
  segment.length -= fromHead;
  bytes -= fromHead;
  if (segment.body == nullptr) return;
  const size_t fromBody = std::min(bytes, segment.bodyLength);
  bytes -= fromBody;
  const size_t bodyLeft = segment.bodyLength - fromBody;
  segment.offset += static_cast<int64_t>(segment.bodyLength);
  segment.fileLength -= segment.bodyLength;
  if (bodyLeft > 0) {
    // The scratch memory is used again at once: what the socket didn't take is kept, behind what is left of the head.
    OwnedBytes left = OwnedBytes::ofSize(segment.length + bodyLeft);
    std::copy_n(segment.bytes, segment.length, left.bytes.get());
    std::copy_n(segment.body + fromBody, bodyLeft, left.bytes.get() + segment.length);
    counters_.copiedBytes += static_cast<double>(left.length);
    segment.owned = std::move(left);
    segment.bytes = segment.owned.bytes.get();
    segment.length = segment.owned.length;
  }
  segment.body = nullptr;
  segment.bodyLength = 0;
}

void Reactor::takeRelay(Relay& relay, size_t& bytes) {
  while (bytes > 0 && relay.memoryBytes > 0) {
    OwnedBytes& chunk = relay.memory[relay.memoryHead];
    const size_t took = std::min(bytes, chunk.length - relay.memoryOffset);
    relay.memoryOffset += took;
    relay.memoryBytes -= took;
    bytes -= took;
    if (relay.memoryOffset < chunk.length) continue;
    chunk = OwnedBytes();
    relay.memoryHead++;
    relay.memoryOffset = 0;
  }
  if (relay.memoryBytes == 0) {
    relay.memory.clear();
    relay.memoryHead = 0;
  }
  if (relay.waiting && relay.memoryBytes <= relay.memoryLimit / 2) {
    relay.waiting = false;
    Connection* source = table_.find(relay.source);
    if (source != nullptr) makeReady(*source);
  }
}

void Reactor::finishSegment(Connection& connection) {
  Segment& front = connection.queue.front();
  giveBack(connection.id, front.token, 0, front.eager);
  Relay* relay = front.relay;
  connection.queue.pop();
  if (relay != nullptr) leaveQueue(*relay);
}

void Reactor::own(Connection& connection) {
  if (connection.queue.empty()) return;
  counters_.copiedBytes += static_cast<double>(connection.queue.ownAll());
}

void Reactor::block(Connection& connection) {
  connection.blocked = true;
  counters_.wouldBlock++;
}

// After MSG_MORE the kernel holds back an unfilled packet; setting TCP_NODELAY once more pushes it out.
void Reactor::uncork(Connection& connection) {
  if (!connection.corked) return;
  connection.corked = false;
  const int on = 1;
  setsockopt(connection.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Nothing can be sent any more, but what the peer sent before it went (an early refusal of an upload, say) still
// waits to be read. The connection departs once that was delivered.
void Reactor::failSend(Connection& connection, int error) {
  connection.writeError = error;
  dropQueue(connection, error);
  if (connection.paused || connection.ended || connection.closeAsked) {
    depart(connection, CloseReason::error, error);
    return;
  }
  connection.readable = true;
  makeReady(connection);
}

void Reactor::whenDrained(Connection& connection) {
  if (!connection.deferred.empty()) return;
  if (connection.closeAsked) {
    linger(connection);
  } else if (connection.shutdownAsked && !connection.shutdownDone) {
    connection.shutdownDone = true;
    ::shutdown(connection.descriptor, SHUT_WR);
  }
}

void Reactor::dropQueue(Connection& connection, int error) {
  for (size_t i = 0; i < connection.queue.size(); i++) {
    Segment& segment = connection.queue.at(i);
    giveBack(connection.id, segment.token, error, segment.eager);
    if (segment.job != nullptr) segment.job->connection = 0;
    if (segment.relay != nullptr) leaveQueue(*segment.relay);
  }
  connection.queue.clear();
  for (Job* job : connection.deferred) {
    giveBack(connection.id, job->token, error, job->eager);
    job->connection = 0;
  }
  connection.deferred.clear();
}

}  // namespace s3a
