#pragma once

#include <string>

#include "ayatori/session/solve/solve_request.hpp"
#include "c/ayatori.h"

namespace ayatori::c {

/// A request as a library makes it: nothing is measured and no file written unasked.
session::SolveRequest new_request();

/// The option of this name, with `_` or `-` between words. Throws InputError that lists the names.
const session::Option<session::SolveRequest>& option_called(std::string name);

/// Sets an option from text. Throws InputError for text that is no value of its type, or out of its range.
void set_option(session::SolveRequest& request, const std::string& name, const std::string& text);

/// Its value as set_option() takes it.
std::string text_of(const session::Option<session::SolveRequest>& option,
                    const session::SolveRequest& request);

/// The options as the interface in C describes them; nullptr beyond the last.
const ayatori_option* described_option(int index);

/// The text of an error, with the names of options as they are set.
std::string in_words_of_c(std::string text);

}  // namespace ayatori::c
