// One socket of the reactor: a listener or a stream.
//
// A stream's life: connecting → open → (ended: the peer's FIN was read) → lingering (closing, everything sent) →
// departed (socket closed, `closed` waits to be delivered) → free. `departed` keeps the slot until TypeScript
// has seen the event, so commands that were under way resolve to it and give their tokens back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "events.h"
#include "write-queue.h"

namespace s3a {

enum class ConnectionKind : uint8_t { free, listener, stream };

struct Connection {
  ConnectionKind kind = ConnectionKind::free;
  int descriptor = -1;
  int32_t id = 0;

  bool connecting = false;
  /** The kernel may hold unread bytes, a FIN or an error. */
  bool readable = false;
  /** EPOLLRDHUP was seen: read on until 0, a short read doesn't mean that the socket is drained. */
  bool hungUp = false;
  bool ended = false;
  bool paused = false;
  /** Receiving waits until TypeScript saw that the relay's target is gone. */
  bool held = false;
  /** The socket took less than it was given; EPOLLOUT goes on. */
  bool blocked = false;
  /** The last bytes were sent with MSG_MORE: the kernel may hold back a packet. */
  bool corked = false;
  bool shutdownAsked = false;
  bool shutdownDone = false;
  bool closeAsked = false;
  bool lingering = false;
  bool departed = false;
  /** departed: a token was given back since TypeScript was last called. */
  bool lateToken = false;
  /** It is in the list of connections to serve, to flush. */
  bool inReady = false;
  bool inDirty = false;
  /** Errno of a failed send; what arrived before is still delivered. */
  int writeError = 0;

  /** Bytes that one call may receive; 0: as many as the reactor's limit says. */
  size_t receiveLimit = 0;
  uint32_t deadlineMs = 0;
  uint64_t lastProgressMs = 0;
  uint64_t lingerUntilMs = 0;
  size_t lingeredBytes = 0;

  OwnedBytes retained;
  WriteQueue queue;
  /** Reads that stepped aside: their answers are appended when they are done. */
  std::vector<Job*> deferred;
  /** Relays whose source this is; the first one is receiving. */
  std::vector<Relay*> relays;

  CloseReason reason = CloseReason::asked;
  int error = 0;
};

}  // namespace s3a
