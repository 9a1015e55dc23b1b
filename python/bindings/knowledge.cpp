#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/session/lessons.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using Base = tuning::KnowledgeBase;

/// (a line for each, all as a JSON list, a line for every file that is none).
nb::tuple lessons(const Base& base, const std::string& key) {
  const auto [found, ignored] = session::lessons_of(base, key);
  std::vector<std::string> lines;
  for (const auto& lesson : found) lines.push_back(session::summary(lesson));
  return nb::make_tuple(lines, session::text_of(found), ignored);
}

int forget(const Base& base, const std::string& key) {
  const int count = base.forget(key);
  if (count == 0 && !key.empty())
    throw InputError(fmt::format("{}: nothing is known by the key {}", base.folder(), key));
  return count;
}

void export_to(const Base& base, const std::string& path) {
  write_file(path, session::text_of(session::lessons_of(base, "").lessons));
}

}  // namespace

void bind_knowledge(nb::module_& module) {
  nb::class_<Base>(module, "KnowledgeBase")
      .def_prop_ro("folder", &Base::folder)
      .def("lessons", &lessons, nb::arg("key"))
      .def("forget", &forget, nb::arg("key"))
      .def("export_to", &export_to, nb::arg("path"))
      .def("import_from", &session::import_lessons, nb::arg("path"));
  module.def("knowledge_base", &session::knowledge_base, nb::arg("folder"));
}

}  // namespace ayatori::python
