// What waits to be sent on one connection, in order.
//
// A segment's memory is either borrowed (an arena, valid until the batch was executed) or owned (heap). Everything
// that survives a batch must be owned: `ownAll` copies what is still borrowed. A segment's token comes back when
// the kernel took everything up to its end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace s3a {

struct Relay;
struct Job;

/** Heap memory with its size, so that the total can be reported. */
struct OwnedBytes {
  std::unique_ptr<uint8_t[]> bytes;
  size_t length = 0;

  static OwnedBytes copyOf(const uint8_t* from, size_t length);
  static OwnedBytes ofSize(size_t length);
};

enum class SegmentKind : uint8_t {
  /** Nothing: it stepped aside or was answered already. */
  none,
  /** Only a token: it comes back when everything before was taken. */
  mark,
  /** Bytes in memory. */
  memory,
  /** A head and a file range, read and sent with one call. */
  copy,
  /** A file range for sendfile. */
  file,
  /** The place where the bytes of a relay go. */
  relay,
};

struct Segment {
  SegmentKind kind = SegmentKind::none;
  bool eager = false;
  bool deferrable = false;
  /** copy: its first piece was sent, so it can no longer be answered with an error. */
  bool started = false;
  int32_t token = 0;
  /** file, copy: the descriptor. */
  int32_t descriptor = -1;
  /** memory: the bytes left; copy: the head left. */
  const uint8_t* bytes = nullptr;
  size_t length = 0;
  OwnedBytes owned;
  /** file, copy: the range left. */
  int64_t offset = 0;
  size_t fileLength = 0;
  /** file: up to where the page cache was seen to hold the range. */
  int64_t warmUntil = 0;
  /** copy: the piece of the range that sits in the scratch memory during this call. */
  const uint8_t* body = nullptr;
  size_t bodyLength = 0;
  /** file, copy: the read that it waits for. */
  Job* job = nullptr;
  Relay* relay = nullptr;
};

class WriteQueue {
 public:
  bool empty() const { return head_ == segments_.size(); }
  size_t size() const { return segments_.size() - head_; }
  Segment& front() { return segments_[head_]; }
  Segment& at(size_t index) { return segments_[head_ + index]; }
  Segment& push(SegmentKind kind);
  void pop();
  /** Copies borrowed memory of all segments to the heap; returns how many bytes that were. */
  size_t ownAll();
  void clear();

 private:
  std::vector<Segment> segments_;
  size_t head_ = 0;
  /** Segments before this position own their memory already. */
  size_t owned_ = 0;
};

}  // namespace s3a
