// How much one step moves. Chosen by measuring; each also bounds how long one connection can keep the loop.
#pragma once
#include <cstddef>
#include <cstdint>

namespace s3a {

/** Memory for the bodies of one sendmsg; also the largest copied range that is sent or refused as a whole. */
constexpr size_t kScratchBytes = 256 * 1024;
/** Pieces of memory that one sendmsg takes. */
constexpr size_t kMaxVectors = 256;
/** A sendfile range is checked, faulted in and sent in pieces of this size. */
constexpr size_t kFilePieceBytes = 1024 * 1024;
/** A connection that sent or relayed this much in one go lets the others have a turn. */
constexpr size_t kTurnBytes = 2 * 1024 * 1024;
/** One receive of a copying relay. */
constexpr size_t kRelayCopyBytes = 256 * 1024;
/** A relay of at most this length never waits for its target: what the pipe doesn't take is kept in memory. */
constexpr size_t kRelayPieceBytes = 1024 * 1024;
/** What a longer relay keeps in memory before it waits. */
constexpr size_t kRelayMemoryBytes = 256 * 1024;
/** A closing connection reads and drops at most this much, for at most this long. */
constexpr size_t kLingerBytes = 1024 * 1024;
constexpr uint64_t kLingerMs = 1000;

}  // namespace s3a
