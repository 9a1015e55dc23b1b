#pragma once

// What is written once and compiled for the device and for the processor that stands in for one.

#ifdef __CUDACC__
#define AYATORI_PORTABLE __host__ __device__ __forceinline__
#else
#define AYATORI_PORTABLE inline
#endif
