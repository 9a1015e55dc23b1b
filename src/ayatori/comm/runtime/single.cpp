#include "ayatori/comm/runtime/single.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ayatori::comm {

/// A transfer. What is complete at once shares one that is; a persistent one stays when it is done.
struct NativeRequest {
  enum class Kind { complete, send, receive };
  Kind kind = Kind::complete;
  bool is_persistent = false;
  bool is_active = false;
  bool is_done = true;
  int code = 0;  ///< result of what is done
  void* data = nullptr;
  std::size_t bytes = 0;
  int tag = 0;
  MPI_Comm comm = nullptr;
};

struct NativeWindow {
  std::vector<std::byte> memory;
  std::size_t unit = 1;
};

namespace {

template <class Handle>
std::intptr_t value_of(Handle handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}

}  // namespace

// MPI 5.0, annex A.1 and chapter 20.
const Constants& constants_of_abi() {
  static const Constants table{.comm_null = handle_of<MPI_Comm>(0x100),
                               .comm_world = handle_of<MPI_Comm>(0x101),
                               .comm_self = handle_of<MPI_Comm>(0x102),
                               .byte = handle_of<MPI_Datatype>(0x247),
                               .int32 = handle_of<MPI_Datatype>(0x250),
                               .int64 = handle_of<MPI_Datatype>(0x258),
                               .uint64 = handle_of<MPI_Datatype>(0x259),
                               .float32 = handle_of<MPI_Datatype>(0x210),
                               .float64 = handle_of<MPI_Datatype>(0x214),
                               .sum = handle_of<MPI_Op>(0x21),
                               .min = handle_of<MPI_Op>(0x22),
                               .max = handle_of<MPI_Op>(0x23),
                               .bitwise_or = handle_of<MPI_Op>(0x29),
                               .request_null = handle_of<MPI_Request>(0x180),
                               .win_null = handle_of<MPI_Win>(0x110),
                               .info_null = handle_of<MPI_Info>(0x130),
                               .errhandler_null = handle_of<MPI_Errhandler>(0x140),
                               .errors_are_fatal = handle_of<MPI_Errhandler>(0x141),
                               .errors_return = handle_of<MPI_Errhandler>(0x143),
                               .in_place = handle_of<void*>(1),
                               .unweighted = handle_of<int*>(10),
                               .status_ignore = nullptr,
                               .no_copy = nullptr,
                               .undefined = -32766,
                               .comm_type_shared = 221,
                               .thread_single = 0,
                               .thread_funneled = 1024,
                               .no_check = 1024,
                               .keyval_invalid = 0};
  return table;
}

namespace single {

namespace {

/// No global: other globals may want it before.
const Constants& constants() {
  return constants_of_abi();
}

/// MPI's classes of errors, and one for what would wait for ever.
enum Code {
  success = 0,
  wrong_count = 2,
  wrong_type = 3,
  wrong_comm = 5,
  wrong_rank = 6,
  wrong_request = 7,
  wrong_op = 10,
  wrong_argument = 13,
  truncated = 15,
  other = 16,
  wrong_keyval = 36,
  no_memory = 39,
  wrong_range = 48,
  wrong_window = 56,
  deadlock = 1024
};

struct Message {
  MPI_Comm comm;
  int tag;
  std::vector<std::byte> bytes;
};

struct Attribute {
  MPI_Comm comm;
  int key;
  void* value;
};

struct Keyval {
  DeleteAttribute* remove;
  void* extra;
};

struct Graph {
  int sources;
  int destinations;
};

/// All of it belongs to the thread that communicates (MPI_THREAD_FUNNELED).
struct State {
  bool is_initialized = false;
  bool is_finalized = false;
  /// Handles of communicators are numbers: all are alike, but for their messages.
  std::intptr_t next_comm = 0x1000;
  std::map<MPI_Comm, MPI_Errhandler> comms{{constants().comm_world, constants().errors_are_fatal},
                                           {constants().comm_self, constants().errors_are_fatal}};
  std::map<MPI_Comm, Graph> graphs;
  std::list<Message> arrived;         ///< that nobody has asked for yet, in their order
  std::list<NativeRequest*> waiting;  ///< receives without a message yet, in their order
  std::map<int, Keyval> keyvals;
  int next_keyval = 1;
  std::vector<Attribute> attributes;
  NativeRequest complete{.is_active = true};
};

State& state() {
  static auto* const all = new State;  // for as long as the process: windows may outlive the statics
  return *all;
}

bool is_comm(MPI_Comm comm) {
  return state().comms.contains(comm);
}

/// 0 of what is no type.
std::size_t size_of_type(MPI_Datatype type) {
  if (type == constants().byte) return 1;
  if (type == constants().int32 || type == constants().float32) return 4;
  if (type == constants().int64 || type == constants().uint64 || type == constants().float64) return 8;
  return 0;
}

/// What calls with a buffer check first; `peer` is a rank or a root.
int check(int count, MPI_Datatype type, int peer, MPI_Comm comm) {
  if (!is_comm(comm)) return wrong_comm;
  if (count < 0) return wrong_count;
  if (size_of_type(type) == 0) return wrong_type;
  return peer == 0 ? success : wrong_rank;
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  return static_cast<std::size_t>(count) * size_of_type(type);
}

const std::byte* at(const void* base, int elements, MPI_Datatype type) {
  return static_cast<const std::byte*>(base) +
         std::ptrdiff_t{elements} * static_cast<std::ptrdiff_t>(size_of_type(type));
}
std::byte* at(void* base, int elements, MPI_Datatype type) {
  return static_cast<std::byte*>(base) +
         std::ptrdiff_t{elements} * static_cast<std::ptrdiff_t>(size_of_type(type));
}

/// The only block of a collective, from where it is sent to where it is received.
int copy_block(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
               MPI_Datatype receive_type, MPI_Comm comm) {
  if (const int code = check(received, receive_type, 0, comm); code != success) return code;
  if (send == constants().in_place || receive == constants().in_place) return success;
  if (const int code = check(sent, send_type, 0, comm); code != success) return code;
  const std::size_t bytes = bytes_of(sent, send_type);
  if (bytes > bytes_of(received, receive_type)) return truncated;
  if (bytes > 0) std::memmove(receive, send, bytes);
  return success;
}

bool is_op(MPI_Op op, MPI_Datatype type) {
  if (op == constants().bitwise_or) return type != constants().float32 && type != constants().float64;
  return (op == constants().sum || op == constants().min || op == constants().max) &&
         type != constants().byte;
}

int reduce_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const int code = check(count, type, 0, comm); code != success) return code;
  if (!is_op(op, type)) return wrong_op;
  return copy_block(send, count, type, receive, count, type, comm);
}

/// A message meets the receive that waits for it.
void fulfil(NativeRequest& receive, const void* data, std::size_t bytes) {
  const std::size_t fits = std::min(bytes, receive.bytes);
  if (fits > 0) std::memcpy(receive.data, data, fits);
  receive.code = bytes > receive.bytes ? truncated : success;
  receive.is_done = true;
}

void send(const void* data, std::size_t bytes, int tag, MPI_Comm comm) {
  auto& waiting = state().waiting;
  const auto found = std::ranges::find_if(
      waiting, [&](const NativeRequest* receive) { return receive->comm == comm && receive->tag == tag; });
  if (found != waiting.end()) {
    fulfil(**found, data, bytes);
    waiting.erase(found);
    return;
  }
  const auto* const begin = static_cast<const std::byte*>(data);
  state().arrived.push_back({comm, tag, {begin, begin + bytes}});
}

void begin_receive(NativeRequest& receive) {
  auto& arrived = state().arrived;
  const auto found = std::ranges::find_if(arrived, [&](const Message& message) {
    return message.comm == receive.comm && message.tag == receive.tag;
  });
  if (found == arrived.end()) {
    receive.is_done = false;
    state().waiting.push_back(&receive);
    return;
  }
  fulfil(receive, found->bytes.data(), found->bytes.size());
  arrived.erase(found);
}

void begin(NativeRequest& request) {
  request.is_active = true;
  request.is_done = true;
  request.code = success;
  if (request.kind == NativeRequest::Kind::send) send(request.data, request.bytes, request.tag, request.comm);
  if (request.kind == NativeRequest::Kind::receive) begin_receive(request);
}

NativeRequest* request_of(NativeRequest::Kind kind, void* data, int count, MPI_Datatype type, int tag,
                          MPI_Comm comm) {
  return new NativeRequest{
      .kind = kind, .data = data, .bytes = bytes_of(count, type), .tag = tag, .comm = comm};
}

/// Takes the result of a request that is done: one that is not persistent is gone then.
int finish(MPI_Request& request) {
  const int code = std::exchange(request->code, success);
  if (request->is_persistent) {
    request->is_active = false;
    return code;
  }
  if (request != &state().complete) delete request;
  request = constants().request_null;
  return code;
}

bool is_done(MPI_Request request) {
  return request == constants().request_null || request->is_done || !request->is_active;
}

int init_persistent(NativeRequest::Kind kind, void* data, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  if (const int code = check(count, type, peer, comm); code != success) return code;
  *request = request_of(kind, data, count, type, tag, comm);
  (*request)->is_persistent = true;
  return success;
}

int make_comm(MPI_Comm from, MPI_Comm* made) {
  if (!is_comm(from)) return wrong_comm;
  *made = handle_of<MPI_Comm>(state().next_comm++);
  state().comms[*made] = state().comms[from];
  return success;
}

/// Removes the attributes of a communicator that ends, the youngest first.
int remove_attributes(MPI_Comm comm) {
  auto& attributes = state().attributes;
  int code = success;
  for (std::size_t k = attributes.size(); k-- > 0;) {
    if (attributes[k].comm != comm) continue;
    const Attribute removed = attributes[k];
    attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(k));
    const Keyval& keyval = state().keyvals.at(removed.key);
    if (keyval.remove == nullptr) continue;
    const int answer = keyval.remove(comm, removed.key, removed.value, keyval.extra);
    if (code == success) code = answer;
  }
  return code;
}

template <class T>
void combine(const void* in, void* inout, int count, MPI_Op op) {
  const auto* const from = static_cast<const T*>(in);
  auto* const to = static_cast<T*>(inout);
  for (int i = 0; i < count; ++i) {
    if (op == constants().sum) to[i] = static_cast<T>(to[i] + from[i]);
    if (op == constants().min) to[i] = std::min(to[i], from[i]);
    if (op == constants().max) to[i] = std::max(to[i], from[i]);
    if constexpr (std::is_integral_v<T>) {
      if (op == constants().bitwise_or) to[i] = static_cast<T>(to[i] | from[i]);
    }
  }
}

std::string_view text_of(int code) {
  switch (code) {
    case success:
      return "no error";
    case wrong_count:
      return "invalid count";
    case wrong_type:
      return "invalid datatype";
    case wrong_comm:
      return "invalid communicator";
    case wrong_rank:
      return "invalid rank: this process is alone";
    case wrong_request:
      return "invalid request";
    case wrong_op:
      return "invalid operation for the datatype";
    case wrong_argument:
      return "invalid argument";
    case truncated:
      return "the message is longer than the buffer that receives it";
    case wrong_keyval:
      return "invalid key";
    case no_memory:
      return "no memory";
    case wrong_range:
      return "beyond the window";
    case wrong_window:
      return "invalid window";
    case deadlock:
      return "waits for a message that nobody sends: this process is alone";
    default:
      return "unknown error";
  }
}

int write_text(std::string_view text, char* to, int* length) {
  *length = static_cast<int>(text.copy(to, MPI_MAX_ERROR_STRING - 1));
  to[*length] = '\0';
  return success;
}

int Abort(MPI_Comm, int status) {
  _exit(status);
}

int Initialized(int* flag) {
  *flag = state().is_initialized ? 1 : 0;
  return success;
}

int Finalized(int* flag) {
  *flag = state().is_finalized ? 1 : 0;
  return success;
}

int Init_thread(int*, char***, int required, int* provided) {
  if (state().is_initialized) return other;
  state().is_initialized = true;
  *provided = required;
  return success;
}

int Finalize() {
  if (!state().is_initialized || state().is_finalized) return other;
  const int code = remove_attributes(constants().comm_self);
  state().is_finalized = true;
  return code;
}

int Get_library_version(char* text, int* length) {
  return write_text("one process without MPI", text, length);
}

int Error_string(int code, char* text, int* length) {
  return write_text(text_of(code), text, length);
}

int Type_size(MPI_Datatype type, int* bytes) {
  *bytes = static_cast<int>(size_of_type(type));
  return *bytes > 0 ? success : wrong_type;
}

int Comm_rank(MPI_Comm comm, int* rank) {
  *rank = 0;
  return is_comm(comm) ? success : wrong_comm;
}

int Comm_size(MPI_Comm comm, int* size) {
  *size = 1;
  return is_comm(comm) ? success : wrong_comm;
}

int Comm_test_inter(MPI_Comm comm, int* flag) {
  *flag = 0;
  return is_comm(comm) ? success : wrong_comm;
}

int Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  const int code = make_comm(comm, copy);
  if (code == success && state().graphs.contains(comm)) state().graphs[*copy] = state().graphs[comm];
  return code;
}

int Comm_split(MPI_Comm comm, int color, int, MPI_Comm* part) {
  if (color >= 0) return make_comm(comm, part);
  *part = constants().comm_null;
  if (!is_comm(comm)) return wrong_comm;
  return color == constants().undefined ? success : wrong_argument;
}

int Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* part) {
  return Comm_split(comm, type == constants().undefined ? type : 0, key, part);
}

int Comm_free(MPI_Comm* comm) {
  if (!is_comm(*comm) || *comm == constants().comm_world || *comm == constants().comm_self) return wrong_comm;
  const int code = remove_attributes(*comm);
  std::erase_if(state().arrived, [&](const Message& message) { return message.comm == *comm; });
  state().comms.erase(*comm);
  state().graphs.erase(*comm);
  *comm = constants().comm_null;
  return code;
}

int Comm_create_keyval(CopyAttribute* copy, DeleteAttribute* remove, int* key, void* extra) {
  if (copy != constants().no_copy) return wrong_argument;  // nothing here has attributes that are copied
  *key = state().next_keyval++;
  state().keyvals[*key] = {remove, extra};
  return success;
}

// The key goes on to be that of attributes that have it.
int Comm_free_keyval(int* key) {
  if (!state().keyvals.contains(*key)) return wrong_keyval;
  *key = constants().keyval_invalid;
  return success;
}

int Comm_set_attr(MPI_Comm comm, int key, void* value) {
  if (!is_comm(comm)) return wrong_comm;
  if (!state().keyvals.contains(key)) return wrong_keyval;
  state().attributes.push_back({comm, key, value});
  return success;
}

int Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  if (!is_comm(comm)) return wrong_comm;
  state().comms[comm] = handler;
  return success;
}

int Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  if (!is_comm(comm)) return wrong_comm;
  *handler = state().comms[comm];
  return success;
}

int Errhandler_free(MPI_Errhandler* handler) {
  *handler = constants().errhandler_null;
  return success;
}

int Dist_graph_create_adjacent(MPI_Comm comm, int sources, const int* source, const int*, int destinations,
                               const int* destination, const int*, MPI_Info, int, MPI_Comm* graph) {
  const auto is_zero = [](int rank) { return rank == 0; };
  if (!std::all_of(source, source + sources, is_zero)) return wrong_rank;
  if (!std::all_of(destination, destination + destinations, is_zero)) return wrong_rank;
  if (sources != destinations) return wrong_argument;
  const int code = make_comm(comm, graph);
  if (code == success) state().graphs[*graph] = {sources, destinations};
  return code;
}

int Send(const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  if (const int code = check(count, type, destination, comm); code != success) return code;
  send(data, bytes_of(count, type), tag, comm);
  return success;
}

int Isend(const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const int code = Send(data, count, type, destination, tag, comm);
  *request = code == success ? &state().complete : constants().request_null;
  return code;
}

int Irecv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  *request = constants().request_null;
  if (const int code = check(count, type, source, comm); code != success) return code;
  *request = request_of(NativeRequest::Kind::receive, data, count, type, tag, comm);
  begin(**request);
  return success;
}

int Wait(MPI_Request* request, MPI_Status*) {
  if (*request == constants().request_null) return success;
  return is_done(*request) ? finish(*request) : static_cast<int>(deadlock);
}

int Recv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = constants().request_null;
  if (const int code = Irecv(data, count, type, source, tag, comm, &request); code != success) return code;
  const int code = Wait(&request, status);
  if (request == constants().request_null) return code;
  state().waiting.remove(request);
  delete request;
  return code;
}

int Send_init(const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return init_persistent(NativeRequest::Kind::send, const_cast<void*>(data), count, type, destination, tag,
                         comm, request);
}

int Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return init_persistent(NativeRequest::Kind::receive, data, count, type, source, tag, comm, request);
}

int Startall(int count, MPI_Request* requests) {
  for (int k = 0; k < count; ++k) {
    if (requests[k] == constants().request_null || !requests[k]->is_persistent || requests[k]->is_active)
      return wrong_request;
    begin(*requests[k]);
  }
  return success;
}

int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = is_done(*request) ? 1 : 0;
  return *flag != 0 ? Wait(request, status) : static_cast<int>(success);
}

int Waitall(int count, MPI_Request* requests, MPI_Status*) {
  int code = success;
  for (int k = 0; k < count; ++k) {
    const int answer = Wait(requests + k, nullptr);
    if (code == success) code = answer;
  }
  return code;
}

int Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  *index = constants().undefined;
  bool has_active = false;
  for (int k = 0; k < count; ++k) {
    if (requests[k] == constants().request_null || !requests[k]->is_active) continue;
    has_active = true;
    if (!is_done(requests[k])) continue;
    *index = k;
    return Wait(requests + k, status);
  }
  return has_active ? deadlock : success;
}

int Request_free(MPI_Request* request) {
  if (*request == constants().request_null) return wrong_request;
  state().waiting.remove(*request);
  if (*request != &state().complete) delete *request;
  *request = constants().request_null;
  return success;
}

int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status*) {
  if (const int code = check(0, constants().byte, source, comm); code != success) return code;
  *flag = std::ranges::any_of(
      state().arrived, [&](const Message& message) { return message.comm == comm && message.tag == tag; });
  return success;
}

int Barrier(MPI_Comm comm) {
  return is_comm(comm) ? success : wrong_comm;
}

int Bcast(void*, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return check(count, type, root, comm);
}

int Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return reduce_block(send, receive, count, type, op, comm);
}

int Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  return root == 0 ? reduce_block(send, receive, count, type, op, comm) : static_cast<int>(wrong_rank);
}

int Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (count < 0) return wrong_count;
  if (size_of_type(type) == 0) return wrong_type;
  if (!is_op(op, type)) return wrong_op;
  if (type == constants().byte) combine<unsigned char>(in, inout, count, op);
  if (type == constants().int32) combine<std::int32_t>(in, inout, count, op);
  if (type == constants().int64) combine<std::int64_t>(in, inout, count, op);
  if (type == constants().uint64) combine<std::uint64_t>(in, inout, count, op);
  if (type == constants().float32) combine<float>(in, inout, count, op);
  if (type == constants().float64) combine<double>(in, inout, count, op);
  return success;
}

int Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  return reduce_block(send, receive, count, type, op, comm);
}

int Exscan(const void*, void*, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = check(count, type, 0, comm);
  return code == success && !is_op(op, type) ? static_cast<int>(wrong_op) : code;
}

int Allgather(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
              MPI_Datatype receive_type, MPI_Comm comm) {
  return copy_block(send, sent, send_type, receive, received, receive_type, comm);
}

int Allgatherv(const void* send, int sent, MPI_Datatype send_type, void* receive, const int* counts,
               const int* displacements, MPI_Datatype receive_type, MPI_Comm comm) {
  return copy_block(send, sent, send_type, at(receive, displacements[0], receive_type), counts[0],
                    receive_type, comm);
}

int Gather(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
           MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (root != 0) return wrong_rank;
  return copy_block(send, sent, send_type, receive, received, receive_type, comm);
}

int Gatherv(const void* send, int sent, MPI_Datatype send_type, void* receive, const int* counts,
            const int* displacements, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (root != 0) return wrong_rank;
  return Allgatherv(send, sent, send_type, receive, counts, displacements, receive_type, comm);
}

int Scatter(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
            MPI_Datatype receive_type, int root, MPI_Comm comm) {
  return Gather(send, sent, send_type, receive, received, receive_type, root, comm);
}

int Scatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
             void* receive, int received, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (root != 0) return wrong_rank;
  return copy_block(at(send, displacements[0], send_type), counts[0], send_type, receive, received,
                    receive_type, comm);
}

int Alltoall(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
             MPI_Datatype receive_type, MPI_Comm comm) {
  return copy_block(send, sent, send_type, receive, received, receive_type, comm);
}

int Alltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
              void* receive, const int* receive_counts, const int* receive_displacements,
              MPI_Datatype receive_type, MPI_Comm comm) {
  return copy_block(at(send, send_displacements[0], send_type), send_counts[0], send_type,
                    at(receive, receive_displacements[0], receive_type), receive_counts[0], receive_type,
                    comm);
}

// An edge of the graph is one from this process to itself.
int Ineighbor_alltoallv(const void* send, const int* send_counts, const int* send_displacements,
                        MPI_Datatype send_type, void* receive, const int* receive_counts,
                        const int* receive_displacements, MPI_Datatype receive_type, MPI_Comm graph,
                        MPI_Request* request) {
  *request = constants().request_null;
  const auto edges = state().graphs.find(graph);
  if (edges == state().graphs.end()) return wrong_comm;
  for (int k = 0; k < edges->second.sources; ++k) {
    const int code = Alltoallv(send, send_counts + k, send_displacements + k, send_type, receive,
                               receive_counts + k, receive_displacements + k, receive_type, graph);
    if (code != success) return code;
  }
  *request = &state().complete;
  return success;
}

int Win_allocate(MPI_Aint bytes, int unit, MPI_Info, MPI_Comm comm, void* base, MPI_Win* window) {
  *window = constants().win_null;
  if (!is_comm(comm)) return wrong_comm;
  if (bytes < 0 || unit <= 0) return wrong_argument;
  auto made = std::make_unique<NativeWindow>();
  try {
    made->memory.resize(static_cast<std::size_t>(bytes));
  } catch (const std::exception&) {
    return no_memory;
  }
  made->unit = static_cast<std::size_t>(unit);
  *static_cast<void**>(base) = made->memory.data();
  *window = made.release();
  return success;
}

int Win_free(MPI_Win* window) {
  if (*window == constants().win_null) return wrong_window;
  delete std::exchange(*window, constants().win_null);
  return success;
}

int check_window(MPI_Win window) {
  return window == constants().win_null ? wrong_window : success;
}

int Win_set_errhandler(MPI_Win window, MPI_Errhandler) {
  return check_window(window);
}
int Win_lock_all(int, MPI_Win window) {
  return check_window(window);
}
int Win_unlock_all(MPI_Win window) {
  return check_window(window);
}
int Win_flush_all(MPI_Win window) {
  return check_window(window);
}
int Win_sync(MPI_Win window) {
  return check_window(window);
}

int Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
        MPI_Datatype target_type, MPI_Win window) {
  if (const int code = check_window(window); code != success) return code;
  if (target != 0) return wrong_rank;
  const std::size_t bytes = bytes_of(count, type);
  if (bytes != bytes_of(target_count, target_type)) return wrong_count;
  const std::size_t begin = static_cast<std::size_t>(place) * window->unit;
  if (place < 0 || begin + bytes > window->memory.size()) return wrong_range;
  if (bytes > 0) std::memcpy(window->memory.data() + begin, data, bytes);
  return success;
}

MPI_Fint Comm_c2f(MPI_Comm comm) {
  return static_cast<MPI_Fint>(value_of(comm));
}

MPI_Comm Comm_f2c(MPI_Fint number) {
  return handle_of<MPI_Comm>(number);
}

}  // namespace

}  // namespace single

const Transport& single_transport() {
  static const Transport transport{constants_of_abi(),
                                   {
#define AYATORI_OF_SINGLE(name, parameters, arguments) .name = single::name,
                                       AYATORI_MPI_FUNCTIONS(AYATORI_OF_SINGLE)
#undef AYATORI_OF_SINGLE
                                           .Comm_c2f = single::Comm_c2f,
                                       .Comm_f2c = single::Comm_f2c,
                                   }};
  return transport;
}

}  // namespace ayatori::comm
