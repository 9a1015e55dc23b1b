#pragma once

#include "ayatori/network/network.hpp"

// Each file of this folder defines a family of networks; list.cpp names them all.

namespace ayatori::network {

extern const NetworkType flat;
extern const NetworkType tree;
extern const NetworkType fat_tree;
extern const NetworkType measured;
extern const NetworkType mesh;
extern const NetworkType torus;
extern const NetworkType dragonfly;

}  // namespace ayatori::network
