#pragma once

#include "ayatori/io/generator.hpp"

// Each file of this folder defines the generators of one family; list.cpp names them all.

namespace ayatori::io {

extern const Generator poisson2d_5;
extern const Generator poisson3d_7;
extern const Generator poisson3d_27;
extern const Generator neumann2d;
extern const Generator neumann3d;
extern const Generator elliptic2d_5;
extern const Generator elliptic3d_7;
extern const Generator convection2d;
extern const Generator convection3d;
extern const Generator anisotropic2d;
extern const Generator anisotropic3d;
extern const Generator jump2d;
extern const Generator jump3d;
extern const Generator elasticity3d;
extern const Generator tetrahedra3d;
extern const Generator stokes2d;
extern const Generator stokes3d;
extern const Generator oseen2d;
extern const Generator oseen3d;
extern const Generator darcy2d;
extern const Generator darcy3d;
extern const Generator kkt;
extern const Generator biharmonic2d;
extern const Generator heat3d;
extern const Generator curlcurl3d;
extern const Generator dg_advection;
extern const Generator drift_diffusion;
extern const Generator circuit;
extern const Generator least_squares;
extern const Generator random_unsymmetric;
extern const Generator random_spd;
extern const Generator random_hermitian;
extern const Generator helmholtz2d;
extern const Generator helmholtz3d;
extern const Generator maxwell3d;
extern const Generator circuit_ac;
extern const Generator hamiltonian2d;
extern const Generator transport2d;

}  // namespace ayatori::io
