#pragma once

#include "ayatori/mapping/network.hpp"

// Each file of this folder defines a family of networks; list.cpp names them all.

namespace ayatori::mapping {

extern const NetworkType flat;
extern const NetworkType tree;
extern const NetworkType fat_tree;
extern const NetworkType measured;
extern const NetworkType mesh;
extern const NetworkType torus;
extern const NetworkType dragonfly;

}  // namespace ayatori::mapping
