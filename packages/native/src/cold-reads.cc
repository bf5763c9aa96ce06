// File ranges that aren't in the page cache: a reader thread brings them, the loop goes on meanwhile.
//
// A range for sendfile is only faulted in. A copied one is read behind its head into memory of its own, and either
// waits in its place or, on a multiplexed link, steps aside and is appended when it is there.
#include <algorithm>
#include <cerrno>

#include "reactor.h"
#include "transfer-sizes.h"

namespace s3a {

// A copied range that can't be read. One that may step aside leaves its place without a byte sent, and its token comes
// back with the error. In a stream of answers in order there is nothing to put in its place: what follows would be taken
// for its bytes.
void Reactor::refuse(Connection& connection, Segment& segment, int error) {
  if (segment.started || !segment.deferrable) {
    depart(connection, CloseReason::file, error);
    return;
  }
  giveBack(connection.id, segment.token, error, segment.eager);
  const bool eager = segment.eager;
  segment = Segment();
  segment.eager = eager;
}

void Reactor::readCold(Connection& connection, Segment& segment) {
  std::unique_ptr<Job> job = std::make_unique<Job>();
  job->connection = connection.id;
  job->descriptor = segment.descriptor;
  job->offset = segment.offset;
  job->eager = segment.eager;
  counters_.coldReads++;
  if (segment.kind == SegmentKind::file) {
    job->kind = JobKind::fault;
    job->length = std::min(segment.fileLength, kFilePieceBytes);
    job->ahead = std::min(segment.fileLength - job->length, kFilePieceBytes);
    segment.job = job.get();
  } else {
    job->kind = JobKind::answer;
    job->length = std::min(segment.fileLength, kScratchBytes);
    job->owned = OwnedBytes::ofSize(segment.length + job->length);
    std::copy_n(segment.bytes, segment.length, job->owned.bytes.get());
    job->memory = job->owned.bytes.get() + segment.length;
    if (segment.deferrable && !segment.started && job->length == segment.fileLength) {
      job->deferred = true;
      job->token = segment.token;
      connection.deferred.push_back(job.get());
      segment = Segment();
    } else {
      segment.job = job.get();
    }
  }
  readers_->submit(std::move(job));
}

void Reactor::answerRead(std::unique_ptr<Job> job) {
  Connection* connection = table_.find(job->connection);
  if (connection == nullptr) return;
  makeDirty(*connection);
  if (job->deferred) {
    connection->deferred.erase(std::find(connection->deferred.begin(), connection->deferred.end(), job.get()));
    if (job->error != 0) {
      giveBack(connection->id, job->token, job->error, job->eager);
      return;
    }
    Segment& segment = connection->queue.push(SegmentKind::memory);
    segment.token = job->token;
    segment.eager = job->eager;
    segment.owned = std::move(job->owned);
    segment.bytes = segment.owned.bytes.get();
    segment.length = segment.owned.length;
    return;
  }
  size_t index = 0;
  while (connection->queue.at(index).job != job.get()) index++;
  Segment& segment = connection->queue.at(index);
  segment.job = nullptr;
  if (job->error != 0) {
    refuse(*connection, segment, job->error);
    return;
  }
  segment.started = true;
  segment.owned = std::move(job->owned);
  segment.bytes = segment.owned.bytes.get();
  segment.length = segment.owned.length;
  segment.offset += static_cast<int64_t>(job->length);
  segment.fileLength -= job->length;
}

void Reactor::faulted(std::unique_ptr<Job> job) {
  Connection* connection = table_.find(job->connection);
  if (connection == nullptr) return;
  Segment& segment = connection->queue.front();
  segment.job = nullptr;
  if (job->error != 0) {
    depart(*connection, CloseReason::file, job->error);
    return;
  }
  segment.warmUntil = job->offset + static_cast<int64_t>(job->length);
  makeDirty(*connection);
}

}  // namespace s3a
