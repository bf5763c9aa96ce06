#include "write-queue.h"

#include <cstring>

namespace s3a {

namespace {
// A long queue is shifted down once this many segments at its front are dead.
constexpr size_t kCompactAfter = 1024;
}  // namespace

OwnedBytes OwnedBytes::ofSize(size_t length) {
  OwnedBytes owned;
  owned.bytes.reset(new uint8_t[length > 0 ? length : 1]);
  owned.length = length;
  return owned;
}

OwnedBytes OwnedBytes::copyOf(const uint8_t* from, size_t length) {
  OwnedBytes owned = ofSize(length);
  if (length > 0) std::memcpy(owned.bytes.get(), from, length);
  return owned;
}

Segment& WriteQueue::push(SegmentKind kind) {
  segments_.emplace_back();
  segments_.back().kind = kind;
  return segments_.back();
}

void WriteQueue::pop() {
  segments_[head_].owned = OwnedBytes();
  head_++;
  if (head_ == segments_.size()) {
    clear();
  } else if (head_ >= kCompactAfter && head_ * 2 >= segments_.size()) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<ptrdiff_t>(head_));
    owned_ = owned_ > head_ ? owned_ - head_ : 0;
    head_ = 0;
  }
}

size_t WriteQueue::ownAll() {
  size_t copied = 0;
  for (size_t i = owned_ > head_ ? owned_ : head_; i < segments_.size(); i++) {
    Segment& segment = segments_[i];
    if (segment.length == 0 || segment.owned.bytes) continue;
    segment.owned = OwnedBytes::copyOf(segment.bytes, segment.length);
    segment.bytes = segment.owned.bytes.get();
    copied += segment.length;
  }
  owned_ = segments_.size();
  return copied;
}

void WriteQueue::clear() {
  segments_.clear();
  head_ = 0;
  owned_ = 0;
}

}  // namespace s3a
