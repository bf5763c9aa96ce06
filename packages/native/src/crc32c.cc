// The instruction where the processor has it (SSE4.2, the CRC extension of ARMv8), else eight tables at a time.
#include "crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace s3a {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr size_t kTables = 8;
using Tables = std::array<std::array<uint32_t, 256>, kTables>;

// tables[k][b] is what byte b does to the checksum when k more bytes follow it.
constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < kTables; k++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const uint32_t value = tables[k - 1][byte];
      tables[k][byte] = (value >> 8) ^ tables[0][value & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTable = makeTables();

uint64_t load(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

#if defined(__x86_64__)

bool hasInstruction() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t withInstruction(uint32_t value, const uint8_t* bytes, size_t length) {
  uint64_t wide = value;
  for (; length >= 8; length -= 8, bytes += 8) wide = _mm_crc32_u64(wide, load(bytes));
  value = static_cast<uint32_t>(wide);
  for (; length > 0; length--) value = _mm_crc32_u8(value, *bytes++);
  return value;
}

#elif defined(__aarch64__)

bool hasInstruction() { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

__attribute__((target("+crc"))) uint32_t withInstruction(uint32_t value, const uint8_t* bytes, size_t length) {
  for (; length >= 8; length -= 8, bytes += 8) value = __crc32cd(value, load(bytes));
  for (; length > 0; length--) value = __crc32cb(value, *bytes++);
  return value;
}

#else

bool hasInstruction() { return false; }

uint32_t withInstruction(uint32_t value, const uint8_t*, size_t) { return value; }

#endif

}  // namespace

uint32_t crc32cPortable(uint32_t before, const uint8_t* bytes, size_t length) {
  uint32_t value = ~before;
  for (; length >= kTables; length -= kTables, bytes += kTables) {
    uint32_t next = 0;
    for (size_t i = 0; i < kTables; i++) {
      const uint8_t mixed = i < 4 ? static_cast<uint8_t>(bytes[i] ^ (value >> (8 * i))) : bytes[i];
      next ^= kTable[kTables - 1 - i][mixed];
    }
    value = next;
  }
  for (; length > 0; length--) value = (value >> 8) ^ kTable[0][(value ^ *bytes++) & 0xff];
  return ~value;
}

uint32_t crc32c(uint32_t before, const uint8_t* bytes, size_t length) {
  static const bool isFast = hasInstruction();
  return isFast ? ~withInstruction(~before, bytes, length) : crc32cPortable(before, bytes, length);
}

}  // namespace s3a
