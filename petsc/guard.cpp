#include "petsc/guard.hpp"

#include <cctype>

namespace ayatori::petsc {

std::string in_their_words(const std::string& text, const std::string& prefix) {
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = text.compare(i, 2, "--") == 0 && i + 2 < text.size() && std::islower(text[i + 2]) &&
                        (i == 0 || text[i - 1] == ' ');
    if (!begins) {
      words += text[i];
      continue;
    }
    words += prefix;
    for (i += 2; i < text.size() && (std::islower(text[i]) || text[i] == '-'); ++i)
      words += text[i] == '-' ? '_' : text[i];
    --i;
  }
  return words;
}

PetscErrorCode report(MPI_Comm comm, PetscErrorCode code, bool agreed, const std::string& text) {
  SETERRQ(agreed ? comm : PETSC_COMM_SELF, code, "Ayatori: %s", text.c_str());
}

}  // namespace ayatori::petsc
