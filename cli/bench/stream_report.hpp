#pragma once

#include <nlohmann/json.hpp>

#include "bench/kernels/stream.hpp"

namespace ayatori::cli {

/// On stderr.
void print_stream(const bench::StreamResult& result);

/// In GB/s.
nlohmann::ordered_json stream_json(const bench::StreamResult& result);

}  // namespace ayatori::cli
