// Reads that never wait for the disk, so that the loop never does.
#pragma once
#include <cstddef>
#include <cstdint>

namespace s3a {

/**
 * How many bytes from `offset` on the page cache holds, up to `length`; 0 when the first page would have to come
 * from the disk. One byte is asked for every 128 KiB and at the end: presence calls count pages whose read is still
 * under way, and on those sendfile would block. Past the end of the file everything counts as held: sendfile then
 * tells. A descriptor that can't be asked (memory file systems) never blocks, so its ranges count as held too.
 */
size_t residentBytes(int descriptor, int64_t offset, size_t length);

/**
 * Reads without waiting for the disk. Returns the bytes read, possibly fewer than asked when the rest is not in the page
 * cache, or -errno; -EAGAIN when nothing is.
 */
int64_t readResident(int descriptor, uint8_t* into, size_t length, int64_t offset);

}  // namespace s3a
