// The events of a batch, written straight into the array that TypeScript reads.
//
// Invariants: events are delivered in the order they were emitted. While TypeScript reads the array, and while
// it is full, further events wait in `overflow_`. Received bytes live in the input arena, which is reused after a
// batch, so they are only emitted when `hasRoom()` says that the event goes into the array itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace s3a {

enum class EventType : int32_t {
  accepted = 1,
  connected,
  received,
  ended,
  closed,
  relayed,
  sent,
  disk,
};

enum class CloseReason : int32_t { asked = 0, error = 1, idle = 2, file = 3 };
enum class RelayStatus : int32_t { complete = 0, sourceGone = 1, targetGone = 2 };

class EventBuffer {
 public:
  static constexpr size_t kStride = 6;

  EventBuffer(int32_t* words, size_t length) : words_(words), capacity_(length / kStride) {}

  bool hasRoom() const { return !delivering_ && overflow_.empty() && count_ < capacity_; }
  size_t count() const { return count_; }
  bool empty() const { return count_ == 0 && overflow_.empty(); }
  /** Whether an event waits that may not wait for the next batch. */
  bool urgent() const { return urgent_; }
  void makeUrgent() { urgent_ = urgent_ || !empty(); }

  void emit(EventType type, int32_t connection, int32_t a, int32_t b = 0, int32_t c = 0,
            int32_t d = 0, bool urgent = true) {
    urgent_ = urgent_ || urgent;
    const Event event{{static_cast<int32_t>(type), connection, a, b, c, d}};
    if (hasRoom()) {
      std::memcpy(words_ + count_++ * kStride, event.words, sizeof event.words);
    } else {
      overflow_.push_back(event);
    }
  }

  /** TypeScript is about to read the first `count()` events. */
  void beginDelivery() {
    delivering_ = true;
    urgent_ = !overflow_.empty();
  }

  void endDelivery() {
    delivering_ = false;
    count_ = overflow_.size() < capacity_ ? overflow_.size() : capacity_;
    if (count_ == 0) return;
    std::memcpy(words_, overflow_.data(), count_ * sizeof(Event));
    overflow_.erase(overflow_.begin(), overflow_.begin() + static_cast<ptrdiff_t>(count_));
  }

 private:
  struct Event {
    int32_t words[kStride];
  };

  int32_t* words_;
  size_t capacity_;
  size_t count_ = 0;
  bool delivering_ = false;
  bool urgent_ = false;
  std::vector<Event> overflow_;
};

}  // namespace s3a
