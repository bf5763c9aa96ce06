// The JavaScript object in front of a Reactor: checks arguments, calls into TypeScript, and keeps both alive.
//
// The reactor lives until libuv let go of its handles and the object was collected; the environment (a process, or a
// worker thread) waits at its end for the first of these.
#include <cerrno>
#include <memory>

#include "addon.h"
#include "arguments.h"

namespace s3a {

namespace {

constexpr int64_t kMostInt = 0x7fffffff;
constexpr int64_t kMostOffset = int64_t{1} << 53;
constexpr int64_t kPage = 4096;
constexpr size_t kStatCount = 17;

struct ReactorObject {
  napi_env env = nullptr;
  std::unique_ptr<Reactor> reactor;
  napi_async_context context = nullptr;
  napi_async_cleanup_hook_handle hook = nullptr;
  napi_ref onBatch = nullptr;
  napi_ref resource = nullptr;
  napi_ref memory[4] = {};
  napi_ref fill = nullptr;
  bool collected = false;
  bool running = true;
  bool environmentEnds = false;

  void leave() {
    if (collected && !running) delete this;
  }
};

void raise(napi_env env, napi_value error) { napi_fatal_exception(env, error); }

void raisePending(napi_env env) {
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) return;
  napi_value error;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) raise(env, error);
}

void callBatch(ReactorObject& object, size_t events) {
  napi_handle_scope scope;
  if (napi_open_handle_scope(object.env, &scope) != napi_ok) return;
  napi_value onBatch, resource, count;
  napi_get_reference_value(object.env, object.onBatch, &onBatch);
  napi_get_reference_value(object.env, object.resource, &resource);
  napi_create_uint32(object.env, static_cast<uint32_t>(events), &count);
  // An exception in TypeScript is a bug, and ends the process unless somebody catches all of them.
  if (napi_make_callback(object.env, object.context, resource, onBatch, 1, &count, nullptr) != napi_ok) {
    raisePending(object.env);
  }
  napi_close_handle_scope(object.env, scope);
}

void complain(napi_env env, const std::string& what) {
  napi_handle_scope scope;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  napi_value text, error;
  napi_create_string_utf8(env, what.c_str(), what.size(), &text);
  napi_create_error(env, nullptr, text, &error);
  raise(env, error);
  napi_close_handle_scope(env, scope);
}

void onStopped(ReactorObject& object) {
  object.running = false;
  if (!object.environmentEnds) {
    napi_handle_scope scope;
    napi_open_handle_scope(object.env, &scope);
    napi_async_destroy(object.env, object.context);
    for (napi_ref reference : object.memory) napi_delete_reference(object.env, reference);
    napi_delete_reference(object.env, object.onBatch);
    napi_delete_reference(object.env, object.resource);
    if (object.fill != nullptr) napi_delete_reference(object.env, object.fill);
    napi_close_handle_scope(object.env, scope);
  }
  napi_remove_async_cleanup_hook(object.hook);
  object.leave();
}

void stop(ReactorObject& object) {
  object.reactor->stop([&object] { onStopped(object); });
}

/** The reactor that a method was called on; throws when it is closed already. */
Reactor* reactorOf(napi_env env, Arguments& arguments) {
  void* found = nullptr;
  if (napi_unwrap(env, arguments.self(), &found) != napi_ok) {
    arguments.wrong("this", "is not a reactor");
    return nullptr;
  }
  ReactorObject* object = static_cast<ReactorObject*>(found);
  if (object->reactor->stopped()) {
    arguments.wrong("the reactor", "is closed");
    return nullptr;
  }
  return object->reactor.get();
}

int32_t idOf(Arguments& arguments, const char* name) {
  return static_cast<int32_t>(arguments.integer(0, name, 0, kMostInt));
}

int descriptorOf(Arguments& arguments) {
  return static_cast<int>(arguments.integer(0, "descriptor", 0, kMostInt));
}

int32_t tokenOf(Arguments& arguments, size_t index) {
  return static_cast<int32_t>(arguments.integer(index, "token", -kMostInt, kMostInt));
}

napi_value listen(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const std::string host = arguments.text(0, "host");
  const int port = static_cast<int>(arguments.integer(1, "port", 0, 65535));
  const int backlog = static_cast<int>(arguments.integer(2, "backlog", 1, kMostInt));
  if (!arguments.ok()) return nullptr;
  return numberValue(env, reactor->listen(host, port, backlog));
}

napi_value localPort(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int32_t listener = idOf(arguments, "listener");
  if (!arguments.ok()) return nullptr;
  return numberValue(env, reactor->localPort(listener));
}

napi_value stopListening(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int32_t listener = idOf(arguments, "listener");
  if (arguments.ok()) reactor->stopListening(listener);
  return nullptr;
}

napi_value connect(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const std::string host = arguments.text(0, "host");
  const int port = static_cast<int>(arguments.integer(1, "port", 1, 65535));
  if (!arguments.ok()) return nullptr;
  return numberValue(env, reactor->connect(host, port));
}

napi_value peerAddress(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int32_t connection = idOf(arguments, "connection");
  if (!arguments.ok()) return nullptr;
  const std::string address = reactor->peerAddress(connection);
  napi_value text;
  napi_create_string_utf8(env, address.c_str(), address.size(), &text);
  return text;
}

napi_value submit(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  if (!arguments.ok()) return nullptr;
  const std::string wrong = reactor->submit();
  if (!wrong.empty()) napi_throw_error(env, nullptr, wrong.c_str());
  return nullptr;
}

napi_value setTcpTimers(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int32_t connection = idOf(arguments, "connection");
  const int rtoMinUs = static_cast<int>(arguments.integer(1, "rtoMinUs", 0, kMostInt));
  const int delackMaxUs = static_cast<int>(arguments.integer(2, "delackMaxUs", 0, kMostInt));
  if (!arguments.ok()) return nullptr;
  return numberValue(env, reactor->setTcpTimers(connection, rtoMinUs, delackMaxUs));
}

napi_value setBuffers(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int32_t connection = idOf(arguments, "connection");
  const int sendBytes = static_cast<int>(arguments.integer(1, "sendBytes", 0, kMostInt));
  const int receiveBytes = static_cast<int>(arguments.integer(2, "receiveBytes", 0, kMostInt));
  if (!arguments.ok()) return nullptr;
  return numberValue(env, reactor->setBuffers(connection, sendBytes, receiveBytes));
}

napi_value registerFillMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const Span memory = arguments.bytes(0, "memory");
  if (!arguments.ok()) return nullptr;
  if (!reactor->registerFillMemory(memory)) {
    arguments.wrong("memory", "can't change while reads and writes are under way");
    return nullptr;
  }
  void* found = nullptr;
  napi_unwrap(env, arguments.self(), &found);
  ReactorObject* object = static_cast<ReactorObject*>(found);
  if (object->fill != nullptr) napi_delete_reference(env, object->fill);
  napi_create_reference(env, arguments.value(0), 1, &object->fill);
  return nullptr;
}

/** The arguments that writeFile and readFile share, but for the token. */
struct FileRange {
  int descriptor = 0;
  int64_t offset = 0;
  size_t start = 0;
  size_t length = 0;

  FileRange(Arguments& arguments, const Reactor* reactor) {
    descriptor = descriptorOf(arguments);
    offset = arguments.integer(1, "fileOffset", 0, kMostOffset);
    start = static_cast<size_t>(arguments.integer(2, "start", 0, kMostOffset));
    length = static_cast<size_t>(arguments.integer(3, "length", 1, kMostInt));
    if (!arguments.ok()) return;
    const Span& memory = reactor->fillMemory();
    if (!memory.holds(static_cast<int64_t>(start), static_cast<int64_t>(length))) {
      arguments.wrong("start, length", "lie outside of the fill memory");
    }
  }
};

napi_value writeFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  if (!arguments.ok()) return nullptr;
  const FileRange range(arguments, reactor);
  if (!arguments.ok()) return nullptr;
  const size_t checked =
      static_cast<size_t>(arguments.integer(4, "checked", 0, static_cast<int64_t>(range.length)));
  const int32_t token = tokenOf(arguments, 5);
  const size_t address = reinterpret_cast<size_t>(reactor->fillMemory().bytes) + range.start;
  if (range.offset % kPage != 0 || range.length % kPage != 0 || address % kPage != 0) {
    arguments.wrong("fileOffset, start, length", "are not multiples of 4096");
  }
  if (!arguments.ok()) return nullptr;
  reactor->writeFile(range.descriptor, range.offset, range.start, range.length, checked, token);
  return nullptr;
}

napi_value readFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  if (!arguments.ok()) return nullptr;
  const FileRange range(arguments, reactor);
  const int32_t token = tokenOf(arguments, 4);
  if (!arguments.ok()) return nullptr;
  reactor->readFile(range.descriptor, range.offset, range.start, range.length, token);
  return nullptr;
}

napi_value checksumFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int descriptor = descriptorOf(arguments);
  const int64_t offset = arguments.integer(1, "fileOffset", 0, kMostOffset);
  const size_t length = static_cast<size_t>(arguments.integer(2, "length", 1, kMostInt));
  const int32_t token = tokenOf(arguments, 3);
  if (offset % kPage != 0) arguments.wrong("fileOffset", "is not a multiple of 4096");
  if (arguments.ok()) reactor->checksumFile(descriptor, offset, length, token);
  return nullptr;
}

napi_value allocateFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int descriptor = descriptorOf(arguments);
  const size_t bytes = static_cast<size_t>(arguments.integer(1, "bytes", 1, kMostOffset));
  const int32_t token = tokenOf(arguments, 2);
  if (arguments.ok()) reactor->allocateFile(descriptor, bytes, token);
  return nullptr;
}

/** Pieces of `bytes`, one behind the other, from pairs of file offset and length. */
std::vector<Piece> piecesOf(Arguments& arguments, const Span& bytes, const double* pairs, size_t count) {
  std::vector<Piece> pieces;
  size_t start = 0;
  for (size_t i = 0; i + 1 < count && arguments.ok(); i += 2) {
    const double offset = pairs[i];
    const double length = pairs[i + 1];
    if (!(offset >= 0 && offset <= static_cast<double>(kMostOffset)) ||
        !(length >= 0 && length <= static_cast<double>(bytes.length - start))) {
      arguments.wrong("pieces", "lie outside of the bytes or of any file");
      break;
    }
    pieces.push_back({static_cast<int64_t>(offset), start, static_cast<size_t>(length)});
    start += static_cast<size_t>(length);
  }
  return pieces;
}

napi_value syncFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int descriptor = descriptorOf(arguments);
  const int32_t token = tokenOf(arguments, 1);
  if (arguments.ok()) reactor->syncFile(descriptor, Span(), {}, token);
  return nullptr;
}

napi_value writePieces(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  const int descriptor = descriptorOf(arguments);
  const Span bytes = arguments.bytes(1, "bytes");
  size_t count = 0;
  const double* pairs = arguments.doubles(2, "pieces", 2, count);
  const int32_t token = tokenOf(arguments, 3);
  if (!arguments.ok()) return nullptr;
  std::vector<Piece> pieces = piecesOf(arguments, bytes, pairs, count);
  if (arguments.ok()) reactor->syncFile(descriptor, bytes, std::move(pieces), token);
  return nullptr;
}

napi_value stats(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Reactor* reactor = reactorOf(env, arguments);
  size_t room = 0;
  double* into = arguments.doubles(0, "into", kStatCount, room);
  if (arguments.ok()) reactor->stats(into);
  return nullptr;
}

napi_value closeReactor(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  void* found = nullptr;
  if (napi_unwrap(env, arguments.self(), &found) != napi_ok) {
    arguments.wrong("this", "is not a reactor");
    return nullptr;
  }
  stop(*static_cast<ReactorObject*>(found));
  return nullptr;
}

size_t limit(napi_env env, Arguments& arguments, napi_value object, const char* name, int64_t least, int64_t most) {
  napi_value value;
  double number = -1;
  if (napi_get_named_property(env, object, name, &value) != napi_ok ||
      napi_get_value_double(env, value, &number) != napi_ok || !(number >= static_cast<double>(least)) ||
      !(number <= static_cast<double>(most))) {
    arguments.wrong(name, "is not a number in its range");
    return 0;
  }
  return static_cast<size_t>(number);
}

Limits limitsOf(napi_env env, Arguments& arguments, napi_value object) {
  Limits limits;
  limits.maxConnections = limit(env, arguments, object, "maxConnections", 1, ConnectionTable::kIndexMask / 2);
  limits.receiveBytes = limit(env, arguments, object, "receiveBytes", 1, 1 << 26);
  limits.maxPipes = limit(env, arguments, object, "maxPipes", 0, 1 << 20);
  limits.pipeBytes = limit(env, arguments, object, "pipeBytes", kPage, 1 << 26);
  limits.maxRounds = limit(env, arguments, object, "maxRounds", 1, 1 << 10);
  limits.readThreads = limit(env, arguments, object, "readThreads", 1, 256);
  limits.writeThreads = limit(env, arguments, object, "writeThreads", 1, 256);
  limits.syncThreads = limit(env, arguments, object, "syncThreads", 1, 16);
  return limits;
}

napi_value wrap(napi_env env, ReactorObject* object) {
  napi_value wrapper;
  napi_create_object(env, &wrapper);
  const auto collected = [](napi_env, void* wrapped, void*) {
    ReactorObject* gone = static_cast<ReactorObject*>(wrapped);
    gone->collected = true;
    gone->leave();
  };
  napi_wrap(env, wrapper, object, collected, nullptr, nullptr);
  const struct {
    const char* name;
    napi_callback callback;
  } methods[] = {
      {"listen", listen},
      {"localPort", localPort},
      {"stopListening", stopListening},
      {"connect", connect},
      {"peerAddress", peerAddress},
      {"submit", submit},
      {"setTcpTimers", setTcpTimers},
      {"setBuffers", setBuffers},
      {"registerFillMemory", registerFillMemory},
      {"writeFile", writeFile},
      {"readFile", readFile},
      {"checksumFile", checksumFile},
      {"allocateFile", allocateFile},
      {"syncFile", syncFile},
      {"writePieces", writePieces},
      {"stats", stats},
      {"close", closeReactor},
  };
  for (const auto& method : methods) setFunction(env, wrapper, method.name, method.callback);
  return wrapper;
}

}  // namespace

napi_value createReactor(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Arenas arenas;
  arenas.input = arguments.bytes(1, "input");
  arenas.output = arguments.bytes(2, "output");
  arenas.events = arguments.words(3, "events", arenas.eventWords);
  arenas.commands = arguments.words(4, "commands", arenas.commandWords);
  const Limits limits = limitsOf(env, arguments, arguments.value(5));
  if (arguments.ok() && arenas.input.length < limits.receiveBytes) {
    arguments.wrong("input", "can't hold what one call receives");
  }
  if (!arguments.ok()) return nullptr;
  uv_loop_t* loop = nullptr;
  napi_get_uv_event_loop(env, &loop);
  std::unique_ptr<ReactorObject> object = std::make_unique<ReactorObject>();
  ReactorObject& made = *object;
  made.env = env;
  made.reactor = std::make_unique<Reactor>(
      loop, arenas, limits, [&made](size_t events) { callBatch(made, events); },
      [env](const std::string& what) { complain(env, what); });
  const int error = made.reactor->start();
  if (error != 0) {
    napi_throw_error(env, nullptr, ("the reactor can't start: errno " + std::to_string(error)).c_str());
    return nullptr;
  }
  napi_create_reference(env, arguments.value(0), 1, &made.onBatch);
  for (size_t i = 0; i < 4; i++) napi_create_reference(env, arguments.value(i + 1), 1, &made.memory[i]);
  napi_value resource, name;
  napi_create_object(env, &resource);
  napi_create_reference(env, resource, 1, &made.resource);
  napi_create_string_utf8(env, "s3-accelerator:reactor", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, resource, name, &made.context);
  const auto onEnd = [](napi_async_cleanup_hook_handle, void* data) {
    ReactorObject* ending = static_cast<ReactorObject*>(data);
    ending->environmentEnds = true;
    stop(*ending);
  };
  napi_add_async_cleanup_hook(env, onEnd, object.get(), &made.hook);
  return wrap(env, object.release());
}

}  // namespace s3a
