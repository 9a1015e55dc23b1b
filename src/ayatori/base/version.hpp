#pragma once

namespace ayatori {

/// Version of the library, "major.minor.patch".
inline constexpr const char* version = "0.2.0";

}  // namespace ayatori
