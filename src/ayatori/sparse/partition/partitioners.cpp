#include <array>

#include "ayatori/sparse/partition/partitioner.hpp"

namespace ayatori::sparse {

std::span<const Partitioner> partitioners() {
  static const std::array list{
      metis_partitioner,
#ifdef AYATORI_HAS_PTSCOTCH
      ptscotch_partitioner,
#endif
  };
  return list;
}

}  // namespace ayatori::sparse
