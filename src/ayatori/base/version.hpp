#pragma once

namespace ayatori {

/// Version of the library, "major.minor.patch".
inline constexpr const char* version = "0.1.0";

}  // namespace ayatori
