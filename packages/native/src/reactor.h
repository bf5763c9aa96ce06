// The batched reactor: sockets in, one call into TypeScript, commands out.
//
// A turn is a bounded number of rounds: ask epoll → accept, receive, go on sending (events collect) → one call into
// TypeScript → execute the commands it left → flush every connection they touched. Nothing is decided here.
//
// Invariants
//  1. Everything but the thread pools runs on the thread of the Node environment that made the reactor.
//  2. Sockets are registered once, edge-triggered, for both directions: `readable` and `blocked` remember the edges.
//  3. Arena memory is borrowed until the end of the execution of a batch; whatever isn't sent by then is copied.
//  4. Every token that came with a command is emitted exactly once, and before its connection's `closed` if it was
//     handed in before TypeScript saw that.
//  5. Nothing here waits: not for sockets, not for the disk.
//
// The class's methods are grouped by file: reactor.cc (the loop), commands.cc, receive.cc, transmit.cc,
// cold-reads.cc, relay.cc, sockets.cc (listening, connecting, options), lifetime.cc (how connections end, deadlines).
#pragma once
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection-table.h"
#include "events.h"
#include "pipe-pool.h"
#include "thread-pool.h"

namespace s3a {

struct Limits {
  size_t maxConnections = 0;
  size_t receiveBytes = 0;
  size_t maxPipes = 0;
  size_t pipeBytes = 0;
  size_t maxRounds = 0;
  size_t readThreads = 0;
  size_t writeThreads = 0;
  size_t syncThreads = 0;
};

/** Memory that TypeScript and the reactor share. */
struct Span {
  uint8_t* bytes = nullptr;
  size_t length = 0;

  bool holds(int64_t offset, int64_t size) const {
    return offset >= 0 && size >= 0 && static_cast<uint64_t>(offset) <= length &&
           static_cast<uint64_t>(size) <= length - static_cast<uint64_t>(offset);
  }
};

struct Arenas {
  Span input;
  Span output;
  Span fill;
  int32_t* events = nullptr;
  size_t eventWords = 0;
  int32_t* commands = nullptr;
  size_t commandWords = 0;
};

/** Counters since the reactor's creation, in the order of `Stat` in native.ts. */
struct Counters {
  double rounds = 0, batches = 0, events = 0, commands = 0, receives = 0, sends = 0, sendFiles = 0, splices = 0,
         fileReads = 0, coldReads = 0, wouldBlock = 0, copiedBytes = 0, diskWrites = 0, refused = 0;
};

/** Bytes on their way from one connection to another. */
struct Relay {
  int32_t source = 0;
  int32_t target = 0;
  int32_t token = 0;
  bool copy = false;
  /** Nothing follows on the source until something is sent to it: the end of the relay is the end of reading. */
  bool quiet = false;
  /** Its source still has it in its list. */
  bool receiving = false;
  /** Its place in the target's queue still exists. */
  bool placed = false;
  /** It stopped receiving because its memory is full. */
  bool waiting = false;
  uint64_t remaining = 0;
  Pipe pipe;
  size_t inPipe = 0;
  /** What the pipe didn't take, in order, behind what the pipe holds. */
  std::vector<OwnedBytes> memory;
  size_t memoryHead = 0;
  /** Bytes of the first chunk that were sent already. */
  size_t memoryOffset = 0;
  size_t memoryBytes = 0;
  /** It stops receiving when this much is in memory. */
  size_t memoryLimit = 0;
  bool drained() const { return inPipe == 0 && memoryBytes == 0; }
};

class Reactor {
 public:
  /** Calls into TypeScript with the number of events. */
  using Deliver = std::function<void(size_t events)>;
  /** A bad command: a bug in the caller. */
  using Complain = std::function<void(const std::string& what)>;

  Reactor(uv_loop_t* loop, const Arenas& arenas, const Limits& limits, Deliver deliver, Complain complain);
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /** Errno of a descriptor that could not be made, 0 when it can run. */
  int start();
  /** Closes everything; `closed` is called once libuv let go of the handles. */
  void stop(std::function<void()> closed);
  bool stopped() const { return stopping_; }

  // sockets.cc
  int listen(const std::string& host, int port, int backlog);
  int localPort(int32_t listener) const;
  void stopListening(int32_t listener);
  int connect(const std::string& host, int port);
  std::string peerAddress(int32_t connection) const;
  int setTcpTimers(int32_t connection, int rtoMinUs, int delackMaxUs);
  int setBuffers(int32_t connection, int sendBytes, int receiveBytes);

  // commands.cc
  /** Executes the commands that wait; returns what is wrong with a bad one, '' otherwise. */
  std::string submit();
  /** False while jobs use the memory that was registered before. */
  bool registerFillMemory(const Span& memory);
  const Span& fillMemory() const { return arenas_.fill; }
  void writeFile(int descriptor, int64_t fileOffset, size_t start, size_t length, size_t checked, int32_t token);
  void readFile(int descriptor, int64_t fileOffset, size_t start, size_t length, int32_t token);
  void checksumFile(int descriptor, int64_t fileOffset, size_t length, int32_t token);
  void allocateFile(int descriptor, size_t bytes, int32_t token);
  void syncFile(int descriptor, const Span& bytes, std::vector<Piece> pieces, int32_t token);

  void stats(double* into) const;

 private:
  // reactor.cc
  void turn();
  void pollSockets();
  void noteEdges(Connection& connection, uint32_t edges);
  void serveReady();
  void serve(Connection& connection);
  void collectJobs();
  void deliver();
  void kick();
  void armDelivery();
  size_t queuedBytes() const;
  void makeReady(Connection& connection);
  void makeDirty(Connection& connection);
  uint64_t now() const { return uv_now(loop_); }
  bool watch(Connection& connection);

  // commands.cc
  std::string execute();
  std::string executeOne(const int32_t* words);
  std::string write(int32_t id, const int32_t* fields);
  std::string sendFile(int32_t id, const int32_t* fields);
  std::string startRelay(int32_t id, const int32_t* fields);
  std::string retain(int32_t id, const int32_t* fields);
  void mark(int32_t id, const int32_t* fields);
  void flushDirty();
  /** The connection when bytes can still be queued on it; otherwise the token was given back. */
  Connection* writable(int32_t id, int32_t token, int32_t flags);
  void giveBack(int32_t id, int32_t token, int error, bool eager);

  // receive.cc
  void acceptFrom(Connection& listener);
  void adopt(int descriptor, int32_t listener);
  void finishConnect(Connection& connection);
  void receive(Connection& connection);
  void receiveEnd(Connection& connection, int error);

  // transmit.cc
  struct Gathered;
  void flush(Connection& connection);
  bool sendSome(Connection& connection, size_t& sent);
  bool sendVectors(Connection& connection, size_t& sent);
  bool sendFilePiece(Connection& connection, size_t& sent);
  bool sendRelay(Connection& connection, size_t& sent);
  void gather(Connection& connection, Gathered& gathered);
  bool gatherCopy(Connection& connection, Segment& segment, Gathered& gathered);
  void consume(Connection& connection, size_t bytes);
  void takeCopy(Segment& segment, size_t& bytes);
  void takeRelay(Relay& relay, size_t& bytes);
  void finishSegment(Connection& connection);
  void own(Connection& connection);
  void block(Connection& connection);
  void uncork(Connection& connection);
  void failSend(Connection& connection, int error);
  void whenDrained(Connection& connection);
  void dropQueue(Connection& connection, int error);

  // cold-reads.cc
  void readCold(Connection& connection, Segment& segment);
  void refuse(Connection& connection, Segment& segment, int error);
  void answerRead(std::unique_ptr<Job> job);
  void faulted(std::unique_ptr<Job> job);

  // relay.cc
  void advanceRelay(Connection& source);
  bool discardSome(Connection& source, Relay& relay, size_t& moved);
  bool spliceIn(Connection& source, Relay& relay, size_t& moved);
  bool copyIn(Connection& source, Relay& relay, size_t& moved);
  bool relayEnded(Connection& source, ssize_t got);
  void finishRelay(Connection& source, RelayStatus status);
  void abortRelays(Connection& source);
  void pushTarget(Relay& relay);
  void runDry(Connection& source, Relay& relay);
  void leaveQueue(Relay& relay);
  void release(Relay& relay);

  // lifetime.cc
  void depart(Connection& connection, CloseReason reason, int error);
  void closeGently(Connection& connection);
  void pause(Connection& connection);
  void closeAtOnce(Connection& connection);
  void linger(Connection& connection);
  void emitDepartures();
  void releaseDeparted();
  void sweep();

  uv_loop_t* loop_;
  Arenas arenas_;
  Limits limits_;
  Deliver deliver_;
  Complain complain_;
  Counters counters_;
  EventBuffer events_;
  ConnectionTable table_;
  PipePool pipes_;
  std::unique_ptr<ThreadPool> readers_;
  std::unique_ptr<ThreadPool> writers_;
  /** Apart from the writers: a sync takes as long as all that was written before it. */
  std::unique_ptr<ThreadPool> syncers_;
  std::vector<std::unique_ptr<Job>> jobsDone_;

  int epoll_ = -1;
  int wakeup_ = -1;
  uv_poll_t poll_{};
  uv_timer_t deliveryTimer_{};
  uv_timer_t sweepTimer_{};
  uv_timer_t acceptTimer_{};
  bool deliveryArmed_ = false;
  bool acceptPaused_ = false;
  bool stopping_ = false;
  bool inTurn_ = false;
  std::function<void()> stopped_;
  int openHandles_ = 0;

  size_t open_ = 0;
  size_t inputUsed_ = 0;
  uint64_t lastSweepMs_ = 0;
  std::vector<int32_t> ready_;
  std::vector<int32_t> serving_;
  std::vector<int32_t> dirty_;
  std::vector<int32_t> held_;
  /** Departed and not yet told. */
  std::vector<int32_t> departed_;
  /** Told; their slots are free once no late token is under way. */
  std::vector<int32_t> told_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::vector<Relay*> freeRelays_;
  /** Bodies of small answers on their way to a socket. */
  std::unique_ptr<uint8_t[]> scratch_;
  /** Bytes of a copying relay on their way to a socket. */
  std::unique_ptr<uint8_t[]> relayScratch_;
};

}  // namespace s3a
