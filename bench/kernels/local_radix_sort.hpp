#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace ayatori::bench {

/// Sorts with all threads. The first digit spreads the keys over 2^digit_bits buckets (most significant
/// first), and again where a bucket is too large for the cache of a core or for one thread; then every
/// thread sorts buckets in its cache, least significant digit first. `scratch` is as long as `keys`.
/// Memory is passed through twice where McCalpin would count 4 n keys, whatever the number of digits. Keys
/// are std::uint32_t or std::uint64_t. `progress` is called by the calling thread, bucket by bucket: messages
/// may be under way.
template <class Key>
void local_radix_sort(std::span<Key> keys, std::span<Key> scratch, int digit_bits,
                      const std::function<void()>& progress = {});

}  // namespace ayatori::bench
