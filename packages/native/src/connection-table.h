// Connections by id. An id is a slot number (18 bits) and a generation (13 bits, never 0), so a late event or
// command resolves to nothing. Slots are reused in the order they became free, which keeps generations far apart.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "connection.h"

namespace s3a {

class ConnectionTable {
 public:
  static constexpr int kIndexBits = 18;
  static constexpr int32_t kIndexMask = (1 << kIndexBits) - 1;
  static constexpr int32_t kGenerationMask = (1 << 13) - 1;

  /** Null for an id that is dead, or never was. */
  Connection* find(int32_t id) const {
    const size_t index = static_cast<size_t>(id & kIndexMask);
    if (id <= 0 || index >= slots_.size()) return nullptr;
    Connection* connection = slots_[index].get();
    return connection->kind != ConnectionKind::free && connection->id == id ? connection : nullptr;
  }

  /** Null when every slot is taken. */
  Connection* add(ConnectionKind kind, int descriptor);
  void release(Connection& connection);

  const std::vector<std::unique_ptr<Connection>>& slots() const { return slots_; }

 private:
  std::vector<std::unique_ptr<Connection>> slots_;
  std::deque<int32_t> free_;
};

}  // namespace s3a
