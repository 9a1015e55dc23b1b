#include <array>

#include "ayatori/io/generators/generators.hpp"

namespace ayatori::io {

std::span<const Generator> generators() {
  static const std::array list{
      poisson2d_5,   poisson3d_7,      poisson3d_27,    neumann2d,     neumann3d,     elliptic2d_5,
      elliptic3d_7,  convection2d,     convection3d,    anisotropic2d, anisotropic3d, jump2d,
      jump3d,        elasticity3d,     tetrahedra3d,    stokes2d,      stokes3d,      oseen2d,
      oseen3d,       darcy2d,          darcy3d,         kkt,           biharmonic2d,  heat3d,
      curlcurl3d,    dg_advection,     drift_diffusion, circuit,       least_squares, random_unsymmetric,
      random_spd,    random_hermitian, helmholtz2d,     helmholtz3d,   maxwell3d,     circuit_ac,
      hamiltonian2d, transport2d};
  return list;
}

}  // namespace ayatori::io
