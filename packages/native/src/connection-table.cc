#include "connection-table.h"

namespace s3a {

Connection* ConnectionTable::add(ConnectionKind kind, int descriptor) {
  int32_t index;
  if (!free_.empty()) {
    index = free_.front();
    free_.pop_front();
  } else {
    index = static_cast<int32_t>(slots_.size());
    if (index > kIndexMask) return nullptr;
    slots_.push_back(std::make_unique<Connection>());
  }
  Connection& connection = *slots_[static_cast<size_t>(index)];
  const int32_t before = connection.id >> kIndexBits;
  const int32_t generation = before == kGenerationMask ? 1 : before + 1;
  connection = Connection();
  connection.kind = kind;
  connection.descriptor = descriptor;
  connection.id = (generation << kIndexBits) | index;
  return &connection;
}

void ConnectionTable::release(Connection& connection) {
  const int32_t id = connection.id;
  connection = Connection();
  connection.id = id;
  free_.push_back(id & kIndexMask);
}

}  // namespace s3a
