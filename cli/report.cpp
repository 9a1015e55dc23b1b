#include <fmt/core.h>

#include <memory>

#include "ayatori/base/json.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/report/page.hpp"
#include "cli/command.hpp"
#include "cli/result_files.hpp"

namespace ayatori::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> results;
  std::string output = "report.html";
};

std::string read_file(const std::string& path) {
  return naming(path, [&] {
    auto text = read_regular_file(path, most_json_bytes);
    if (text.empty()) throw InputError("is empty");
    return text;
  });
}

int run_report(const comm::Comm& world, const ReportArguments& arguments) {
  std::string page;
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    std::vector<session::NamedText> results;
    for (const auto& path : arguments.results) {
      if (path == arguments.output)
        throw InputError(fmt::format("{}: is an input and cannot be written to", path));
      results.push_back({path, read_file(path)});
    }
    page = session::report_page(results);
  });
  ResultFiles files(world);
  const auto written = files.write_text(
      arguments.output, "the page", [&] { return page; }, "report.html");
  if (world.rank() == 0 && !written.empty()) fmt::print(stderr, "report     {}\n", written);
  files.finish();
  return 0;
}

}  // namespace

void add_report(Command& app, Run& run) {
  auto arguments = std::make_shared<ReportArguments>();
  Command* report = app.add_subcommand("report", "Results as one HTML page, to look at and to print");
  report->examples({{"ayatori report solve.json", "writes report.html, which a browser shows"},
                    {"ayatori report solve.json result.json -o both.html", "several results on one page"}});
  report
      ->add_option("results", arguments->results,
                   "What commands have written: JSON (--json, profiles, tables), drawings (--svg)")
      ->required();
  report->add_option("-o,--output", arguments->output, "The page; -: standard output")->capture_default_str();
  report->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_report(world, *arguments); };
  });
}

}  // namespace ayatori::cli
