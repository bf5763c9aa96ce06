// CRC32C (Castagnoli): what tells whether a stored block still has the bytes that were written.
#pragma once
#include <cstddef>
#include <cstdint>

namespace s3a {

/** The checksum of what `before` is the checksum of, followed by these bytes; 0 begins. Uses the processor's instruction. */
uint32_t crc32c(uint32_t before, const uint8_t* bytes, size_t length);

/** The same with a table, for processors without the instruction. About a seventh as fast. */
uint32_t crc32cPortable(uint32_t before, const uint8_t* bytes, size_t length);

}  // namespace s3a
