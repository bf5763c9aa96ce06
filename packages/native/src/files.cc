// Small things that Node can't do to files and memory.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "addon.h"
#include "arguments.h"
#include "crc32c.h"

namespace s3a {

namespace {
constexpr size_t kPage = 4096;
constexpr int64_t kMostBytes = int64_t{1} << 53;
constexpr int64_t kMostMemory = int64_t{1} << 40;
constexpr int64_t kMostAlignment = int64_t{1} << 30;
constexpr int64_t kMostDescriptor = 0x7fffffff;

/** Maps more than is asked for and gives back what lies beside the aligned part; null when there isn't as much. */
char* mapAligned(size_t bytes, size_t alignment) {
  const size_t spare = alignment - kPage;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* start = static_cast<char*>(mapped);
  const size_t before = (alignment - reinterpret_cast<uintptr_t>(start) % alignment) % alignment;
  if (before > 0) munmap(start, before);
  if (spare > before) munmap(start + before + bytes, spare - before);
  return start + before;
}
}  // namespace

napi_value allocateAligned(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const size_t bytes = static_cast<size_t>(arguments.integer(0, "bytes", 1, kMostMemory));
  const size_t alignment = static_cast<size_t>(arguments.integer(1, "alignment", kPage, kMostAlignment));
  const bool hugePages = arguments.flag(2, "hugePages");
  if ((alignment & (alignment - 1)) != 0) arguments.wrong("alignment", "is not a power of two");
  if (!arguments.ok()) return nullptr;
  const size_t mapped = (bytes + kPage - 1) / kPage * kPage;
  char* memory = mapAligned(mapped, alignment);
  if (memory == nullptr) {
    napi_throw_error(env, nullptr, "no memory for an aligned buffer");
    return nullptr;
  }
  if (hugePages) madvise(memory, mapped, MADV_HUGEPAGE);
  napi_value buffer = nullptr;
  const auto unmap = [](napi_env, void* start, void* length) { munmap(start, reinterpret_cast<size_t>(length)); };
  if (napi_create_external_arraybuffer(env, memory, bytes, unmap, reinterpret_cast<void*>(mapped), &buffer) != napi_ok) {
    munmap(memory, mapped);
    napi_throw_error(env, nullptr, "this Node can't hold memory of an addon");
    return nullptr;
  }
  return buffer;
}

napi_value preallocate(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = static_cast<int>(arguments.integer(0, "descriptor", 0, kMostDescriptor));
  const int64_t bytes = arguments.integer(1, "bytes", 1, kMostBytes);
  if (!arguments.ok()) return nullptr;
  int error;
  do {
    error = posix_fallocate(descriptor, 0, bytes);
  } while (error == EINTR);
  return numberValue(env, error);
}

napi_value lockFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = static_cast<int>(arguments.integer(0, "descriptor", 0, kMostDescriptor));
  if (!arguments.ok()) return nullptr;
  return numberValue(env, flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno);
}

napi_value adviseCold(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = static_cast<int>(arguments.integer(0, "descriptor", 0, kMostDescriptor));
  const int64_t offset = arguments.integer(1, "offset", 0, kMostBytes);
  const int64_t length = arguments.integer(2, "length", 0, kMostBytes);
  if (!arguments.ok()) return nullptr;
  return numberValue(env, posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED));
}

napi_value checksumOf(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Span span = arguments.bytes(0, "bytes");
  const bool isPortable = arguments.flag(1, "portable");
  if (!arguments.ok()) return nullptr;
  return numberValue(env, isPortable ? crc32cPortable(0, span.bytes, span.length) : crc32c(0, span.bytes, span.length));
}

napi_value raiseFileLimit(napi_env env, napi_callback_info) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  const rlim_t inForce = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
  return numberValue(env, static_cast<double>(std::min<rlim_t>(inForce, kMostBytes)));
}

}  // namespace s3a
