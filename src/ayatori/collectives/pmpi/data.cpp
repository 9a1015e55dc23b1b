#include "ayatori/collectives/pmpi/data.hpp"

#include <algorithm>
#include <array>

#include "ayatori/collectives/pmpi/messages/tag_space.hpp"

namespace ayatori::pmpi {

namespace {

template <class T, std::size_t n>
bool is_among(T one, const std::array<T, n>& all) {
  return std::ranges::find(all, one) != all.end();
}

/// Tables of handles are made at the first call: in one MPI they are addresses of the library.
bool is_integer(MPI_Datatype type) {
  static const std::array all{MPI_INT,         MPI_LONG,          MPI_SHORT,     MPI_UNSIGNED_SHORT,
                              MPI_UNSIGNED,    MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
                              MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,    MPI_INT16_T,
                              MPI_INT32_T,     MPI_INT64_T,       MPI_UINT8_T,   MPI_UINT16_T,
                              MPI_UINT32_T,    MPI_UINT64_T,      MPI_AINT,      MPI_OFFSET,
                              MPI_COUNT,       MPI_INTEGER};
  return is_among(type, all);
}

bool is_real(MPI_Datatype type) {
  static const std::array all{MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL};
  return is_among(type, all);
}

bool is_complex(MPI_Datatype type) {
  static const std::array all{MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                              MPI_COMPLEX, MPI_DOUBLE_COMPLEX};
  return is_among(type, all);
}

bool is_logical(MPI_Datatype type) {
  static const std::array all{MPI_C_BOOL, MPI_LOGICAL};
  return is_among(type, all);
}

bool is_pair(MPI_Datatype type) {
  static const std::array all{MPI_DOUBLE_INT, MPI_2INT,      MPI_FLOAT_INT,
                              MPI_LONG_INT,   MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};
  return is_among(type, all);
}

/// What the MPI itself says of a type, which no call of its own asks for: a message to nobody. It comes back
/// with an error, while calls for a type alone would have it from the handler of MPI_COMM_WORLD. Of one
/// element, since of none MPICH does not look at the type; it is not read.
bool is_committed(MPI_Datatype type) {
  constexpr int tag = 0;
  const char nothing = 0;
  return PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, tag, private_comm()) == MPI_SUCCESS;
}

Layout find_layout(MPI_Datatype type);

/// Data without holes in the order of memory, whatever the extent says.
bool is_dense(MPI_Datatype type, bool& is_named) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
  // Types made with large counts have no envelope of small ones.
  std::array<MPI_Count, 4> large{};
  PMPI_Type_get_envelope_c(type, &large[0], &large[1], &large[2], &large[3], &combiner);
  if (large[2] > 0) return is_named = false;
#endif
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  is_named = combiner == MPI_COMBINER_NAMED;
  if (is_named || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_INTEGER ||
      combiner == MPI_COMBINER_F90_COMPLEX)
    return true;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return false;
  int count = 0;
  MPI_Aint address = 0;
  MPI_Datatype of = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, integers, addresses, types, &count, &address, &of);
  const Layout layout = find_layout(of);
  if (!layout.is_named) PMPI_Type_free(&of);
  return layout.is_contiguous;
}

Layout find_layout(MPI_Datatype type) {
  Layout layout{.is_type = true};
  MPI_Aint begin = 0;
  PMPI_Type_size_x(type, &layout.size);
  PMPI_Type_get_extent(type, &begin, &layout.extent);
  layout.is_contiguous = is_dense(type, layout.is_named) && begin == 0 && layout.extent == layout.size;
  return layout;
}

/// Programs ask for the same again and again, and the MPI's own types stay what they are.
struct KnownLayout {
  bool is_there = false;
  MPI_Datatype type{};
  Layout layout;
};
thread_local KnownLayout last_named;

Layout find_layout(MPI_Datatype type, bool must_be_committed) {
  if (last_named.is_there && type == last_named.type) return last_named.layout;
  if (must_be_committed && !is_committed(type)) return {};
  const Layout layout = find_layout(type);
  if (layout.is_named) last_named = {true, type, layout};
  return layout;
}

}  // namespace

Layout layout_of(MPI_Datatype type) {
  return find_layout(type, true);
}

Layout layout_of_any(MPI_Datatype type) {
  return find_layout(type, false);
}

bool is_named(MPI_Op op) {
  static const std::array all{MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                              MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return is_among(op, all);
}

bool reduces(MPI_Op op) {
  return op != MPI_OP_NULL && op != MPI_REPLACE && op != MPI_NO_OP;
}

bool is_defined(MPI_Op op, MPI_Datatype type) {
  if (op == MPI_SUM || op == MPI_PROD) return is_real(type) || is_integer(type) || is_complex(type);
  if (op == MPI_MAX || op == MPI_MIN) return is_real(type) || is_integer(type);
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) return is_integer(type) || type == MPI_BYTE;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return is_integer(type) || is_logical(type);
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return is_pair(type);
  return false;
}

}  // namespace ayatori::pmpi
