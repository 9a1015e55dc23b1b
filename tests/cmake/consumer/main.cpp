#include <ayatori/comm/environment.hpp>
#include <ayatori/session/solve.hpp>
#include <memory>

int main(int argc, char** argv) {
  namespace session = ayatori::session;
  const ayatori::comm::Environment environment(argc, argv);
  session::SolveRequest request;
  request.rtol = 1e-10;
  const auto here = session::begin_session(ayatori::comm::Comm::world(), session_options(request));
  const auto problem =
      std::make_shared<const session::Problem>(session::load_problem(here, "poisson3d-7:n=40", request));
  const auto b = session::make_right_hand_side(here.comm, *problem, "ones").b;
  ayatori::Array<double> x(b.size(), 0.0);
  return session::solve(here, problem, b, x, request).report.converged() ? 0 : 1;
}
