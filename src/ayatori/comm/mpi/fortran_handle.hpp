#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// The communicator as Fortran programs name it, for libraries that take it in this form. Valid as long as
/// the Comm.
int fortran_handle(const Comm& comm);

}  // namespace ayatori::comm
