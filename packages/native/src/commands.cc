// What TypeScript asked for: checks each command, queues it, and flushes every connection that was touched once.
//
// A command for a connection that is gone gives its token back and does nothing else. A command that no correct
// caller could have written (out of bounds, unknown) stops the execution and is reported: it is a bug.
#include <algorithm>
#include <cerrno>

#include "reactor.h"
#include "transfer-sizes.h"

namespace s3a {

namespace {

constexpr size_t kStride = 10;
constexpr int32_t kFlagCopy = 1;
constexpr int32_t kFlagDeferrable = 2;
constexpr int32_t kFlagEager = 4;
constexpr int32_t kFlagQuiet = 8;
constexpr int32_t kCloseReset = 1;

enum class CommandType : int32_t {
  write = 1,
  sendFile,
  relay,
  retain,
  mark,
  pause,
  resume,
  shutdown,
  close,
  deadline,
  receiveLimit,
};

int64_t wide(int32_t low, int32_t high) {
  return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) |
                              static_cast<uint32_t>(low));
}

}  // namespace

std::string Reactor::submit() {
  std::string wrong = execute();
  // Inside a call into TypeScript the turn itself goes on; outside of one the loop has to come around.
  if (!inTurn_) {
    if (!ready_.empty() || events_.urgent() || !departed_.empty()) {
      kick();
    } else {
      armDelivery();
    }
  }
  return wrong;
}

std::string Reactor::execute() {
  // The first row's first word counts the commands behind it.
  const int32_t count = arenas_.commands[0];
  arenas_.commands[0] = 0;
  std::string wrong;
  if (count < 0 || (static_cast<size_t>(count) + 1) * kStride > arenas_.commandWords) {
    wrong = "the number of commands, " + std::to_string(count) + ", is out of bounds";
  } else {
    counters_.commands += count;
    const int32_t* words = arenas_.commands + kStride;
    for (int32_t i = 0; i < count && wrong.empty(); i++, words += kStride) wrong = executeOne(words);
  }
  flushDirty();
  return wrong;
}

std::string Reactor::executeOne(const int32_t* words) {
  const int32_t id = words[1];
  const int32_t* fields = words + 2;
  Connection* connection = table_.find(id);
  if (connection != nullptr && connection->kind != ConnectionKind::stream) {
    return "command " + std::to_string(words[0]) + " names a listener";
  }
  const bool alive = connection != nullptr && !connection->departed;
  switch (static_cast<CommandType>(words[0])) {
    case CommandType::write: return write(id, fields);
    case CommandType::sendFile: return sendFile(id, fields);
    case CommandType::relay: return startRelay(id, fields);
    case CommandType::retain: return retain(id, fields);
    case CommandType::mark: mark(id, fields); return "";
    case CommandType::pause:
      if (alive) pause(*connection);
      return "";
    case CommandType::resume:
      if (alive) {
        connection->paused = false;
        makeReady(*connection);
      }
      return "";
    case CommandType::shutdown:
      if (alive) {
        connection->shutdownAsked = true;
        makeDirty(*connection);
      }
      return "";
    case CommandType::close:
      if (alive) {
        if (fields[0] == kCloseReset) {
          closeAtOnce(*connection);
        } else {
          closeGently(*connection);
        }
      }
      return "";
    case CommandType::deadline:
      if (fields[0] < 0) return "deadline: negative milliseconds";
      if (alive) {
        connection->deadlineMs = static_cast<uint32_t>(fields[0]);
        connection->lastProgressMs = now();
      }
      return "";
    case CommandType::receiveLimit:
      if (fields[0] < 0 || static_cast<size_t>(fields[0]) > limits_.receiveBytes) {
        return "receiveLimit: more than the reactor's own limit";
      }
      if (alive) connection->receiveLimit = static_cast<size_t>(fields[0]);
      return "";
  }
  return "unknown command " + std::to_string(words[0]);
}

void Reactor::giveBack(int32_t id, int32_t token, int error, bool eager) {
  if (token != 0) events_.emit(EventType::sent, id, token, error, 0, 0, eager);
}

Connection* Reactor::writable(int32_t id, int32_t token, int32_t flags) {
  Connection* connection = table_.find(id);
  int error = ECANCELED;
  if (connection != nullptr && !connection->departed) {
    error = connection->writeError;
    if (error == 0 && (connection->shutdownAsked || connection->closeAsked)) error = EPIPE;
    if (error == 0) return connection;
  } else if (connection != nullptr && token != 0) {
    connection->lateToken = true;
  }
  giveBack(id, token, error, (flags & kFlagEager) != 0);
  return nullptr;
}

std::string Reactor::write(int32_t id, const int32_t* fields) {
  const Span* arena = fields[0] == 0   ? &arenas_.output
                      : fields[0] == 1 ? &arenas_.input
                      : fields[0] == 2 ? &arenas_.fill
                                       : nullptr;
  if (arena == nullptr) return "write: unknown arena " + std::to_string(fields[0]);
  if (!arena->holds(fields[1], fields[2])) return "write: bytes out of bounds";
  Connection* connection = writable(id, fields[3], fields[4]);
  if (connection == nullptr) return "";
  Segment& segment = connection->queue.push(fields[2] > 0 ? SegmentKind::memory : SegmentKind::mark);
  segment.bytes = arena->bytes + fields[1];
  segment.length = static_cast<size_t>(fields[2]);
  segment.token = fields[3];
  segment.eager = (fields[4] & kFlagEager) != 0;
  makeDirty(*connection);
  return "";
}

std::string Reactor::sendFile(int32_t id, const int32_t* fields) {
  const int64_t offset = wide(fields[3], fields[4]);
  if (!arenas_.output.holds(fields[0], fields[1])) return "sendFile: head out of bounds";
  if (fields[2] < 0) return "sendFile: negative descriptor";
  if (offset < 0 || fields[5] < 0) return "sendFile: range out of bounds";
  const int32_t token = fields[6];
  const int32_t flags = fields[7];
  Connection* connection = writable(id, token, flags);
  if (connection == nullptr) return "";
  // Without a body there is nothing to read: it is a plain write.
  const bool copy = (flags & kFlagCopy) != 0 && fields[5] > 0;
  if (!copy && fields[1] > 0) {
    Segment& head = connection->queue.push(SegmentKind::memory);
    head.bytes = arenas_.output.bytes + fields[0];
    head.length = static_cast<size_t>(fields[1]);
  }
  const SegmentKind kind = copy            ? SegmentKind::copy
                           : fields[5] > 0 ? SegmentKind::file
                                           : SegmentKind::mark;
  Segment& segment = connection->queue.push(kind);
  if (copy) {
    segment.bytes = arenas_.output.bytes + fields[0];
    segment.length = static_cast<size_t>(fields[1]);
    segment.deferrable = (flags & kFlagDeferrable) != 0;
  }
  segment.descriptor = fields[2];
  segment.offset = offset;
  segment.fileLength = static_cast<size_t>(fields[5]);
  segment.token = token;
  segment.eager = (flags & kFlagEager) != 0;
  makeDirty(*connection);
  return "";
}

std::string Reactor::startRelay(int32_t id, const int32_t* fields) {
  const int64_t length = wide(fields[1], fields[2]);
  const int32_t token = fields[3];
  if (length < 0) return "relay: negative length";
  Connection* source = table_.find(id);
  if (source == nullptr || source->departed || source->closeAsked) {
    if (source != nullptr && token != 0) source->lateToken = true;
    if (token != 0) {
      events_.emit(EventType::relayed, id, token, static_cast<int32_t>(RelayStatus::sourceGone), fields[1],
                   fields[2]);
    }
    return "";
  }
  Connection* target = fields[0] == 0 ? nullptr : writable(fields[0], 0, 0);
  Relay* relay;
  if (freeRelays_.empty()) {
    relays_.push_back(std::make_unique<Relay>());
    relay = relays_.back().get();
  } else {
    relay = freeRelays_.back();
    freeRelays_.pop_back();
    *relay = Relay();
  }
  relay->source = id;
  relay->target = fields[0];
  relay->token = token;
  relay->copy = (fields[4] & kFlagCopy) != 0;
  relay->quiet = (fields[4] & kFlagQuiet) != 0;
  relay->receiving = true;
  relay->memoryLimit = static_cast<uint64_t>(length) <= kRelayPieceBytes ? kRelayPieceBytes : kRelayMemoryBytes;
  relay->remaining = static_cast<uint64_t>(length);
  source->relays.push_back(relay);
  if (target != nullptr) {
    Segment& place = target->queue.push(SegmentKind::relay);
    place.relay = relay;
    relay->placed = true;
    makeDirty(*target);
  }
  makeReady(*source);
  return "";
}

std::string Reactor::retain(int32_t id, const int32_t* fields) {
  if (!arenas_.input.holds(fields[0], fields[1])) return "retain: bytes out of bounds";
  Connection* connection = table_.find(id);
  if (connection == nullptr || connection->departed) return "";
  const size_t length = connection->retained.length + static_cast<size_t>(fields[1]);
  if (length + limits_.receiveBytes > arenas_.input.length) return "retain: more than the input arena can hold";
  OwnedBytes retained = OwnedBytes::ofSize(length);
  const size_t before = connection->retained.length;
  std::copy_n(connection->retained.bytes.get(), before, retained.bytes.get());
  std::copy_n(arenas_.input.bytes + fields[0], fields[1], retained.bytes.get() + before);
  connection->retained = std::move(retained);
  return "";
}

void Reactor::mark(int32_t id, const int32_t* fields) {
  Connection* connection = writable(id, fields[0], fields[1]);
  if (connection == nullptr) return;
  Segment& segment = connection->queue.push(SegmentKind::mark);
  segment.token = fields[0];
  segment.eager = (fields[1] & kFlagEager) != 0;
  makeDirty(*connection);
}

void Reactor::flushDirty() {
  // Flushing may fail connections, which may make others dirty: the list can grow while it is walked.
  for (size_t i = 0; i < dirty_.size(); i++) {
    Connection* connection = table_.find(dirty_[i]);
    if (connection == nullptr) continue;
    connection->inDirty = false;
    if (connection->departed) continue;
    flush(*connection);
    if (!connection->departed) own(*connection);
  }
  dirty_.clear();
}

bool Reactor::registerFillMemory(const Span& memory) {
  if (readers_->pending() + writers_->pending() > 0) return false;
  arenas_.fill = memory;
  return true;
}

namespace {
std::unique_ptr<Job> fillJob(JobKind kind, int descriptor, int32_t token) {
  std::unique_ptr<Job> job = std::make_unique<Job>();
  job->kind = kind;
  job->descriptor = descriptor;
  job->token = token;
  return job;
}
}  // namespace

void Reactor::writeFile(int descriptor, int64_t fileOffset, size_t start, size_t length, size_t checked, int32_t token) {
  std::unique_ptr<Job> job = fillJob(JobKind::write, descriptor, token);
  job->offset = fileOffset;
  job->memory = arenas_.fill.bytes + start;
  job->length = length;
  job->checked = checked;
  counters_.diskWrites++;
  writers_->submit(std::move(job));
}

void Reactor::readFile(int descriptor, int64_t fileOffset, size_t start, size_t length, int32_t token) {
  std::unique_ptr<Job> job = fillJob(JobKind::read, descriptor, token);
  job->offset = fileOffset;
  job->memory = arenas_.fill.bytes + start;
  job->length = length;
  readers_->submit(std::move(job));
}

void Reactor::checksumFile(int descriptor, int64_t fileOffset, size_t length, int32_t token) {
  std::unique_ptr<Job> job = fillJob(JobKind::checksum, descriptor, token);
  job->offset = fileOffset;
  job->length = length;
  readers_->submit(std::move(job));
}

void Reactor::allocateFile(int descriptor, size_t bytes, int32_t token) {
  std::unique_ptr<Job> job = fillJob(JobKind::allocate, descriptor, token);
  job->length = bytes;
  syncers_->submit(std::move(job));
}

void Reactor::syncFile(int descriptor, const Span& bytes, std::vector<Piece> pieces, int32_t token) {
  std::unique_ptr<Job> job = fillJob(JobKind::sync, descriptor, token);
  if (!pieces.empty()) {
    job->owned = OwnedBytes::ofSize(bytes.length);
    std::copy_n(bytes.bytes, bytes.length, job->owned.bytes.get());
    job->pieces = std::move(pieces);
  }
  syncers_->submit(std::move(job));
}

}  // namespace s3a
