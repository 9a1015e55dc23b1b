#ifdef AYATORI_HAS_HDF5

#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/hdf5.hpp"
#include "ayatori/io/hdf5/file.hpp"
#include "ayatori/io/shared_file.hpp"

namespace ayatori::io {

void write_hdf5_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                       const sparse::RowPartition& /*partition*/, bool is_complex) {
  const auto all = comm.gatherv(local, 0);
  write_shared_file(comm, path, [&](const SharedFile& file) {
    if (comm.rank() == 0) file.write(hdf5::file_with("x", all.values, is_complex), 0);
  });
}

}  // namespace ayatori::io

#endif  // AYATORI_HAS_HDF5
