#include "ayatori/collectives/pmpi/messages/progress_hook.hpp"

#include "ayatori/collectives/pmpi/library.hpp"

#ifdef OPEN_MPI

extern "C" {
// How Open MPI's own components take part, in its header opal/runtime/opal_progress.h of all versions since
// 1.3; not there where the MPI hides what is inside.
int opal_progress_register(int (*)()) __attribute__((weak));
int opal_progress_unregister(int (*)()) __attribute__((weak));
}

namespace ayatori::pmpi {

bool begin_progress_hook(int (*advance)()) {
  if (opal_progress_register == nullptr || opal_progress_unregister == nullptr) return false;
  return opal_progress_register(advance) == 0;
}

void end_progress_hook(int (*advance)()) {
  opal_progress_unregister(advance);
}

}  // namespace ayatori::pmpi

#else

namespace ayatori::pmpi {

bool begin_progress_hook(int (*)()) {
  return false;
}

void end_progress_hook(int (*)()) {}

}  // namespace ayatori::pmpi

#endif
