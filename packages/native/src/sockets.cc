// Listening, connecting, and what can be asked of or set on a socket.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "reactor.h"

namespace s3a {

namespace {

// In <linux/tcp.h> of newer kernels only.
constexpr int kTcpRtoMinUs = 45;
constexpr int kTcpDelackMaxUs = 46;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

bool parse(const std::string& host, int port, Address& address) {
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<uint16_t>(port));
    address.length = sizeof *four;
    return true;
  }
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(static_cast<uint16_t>(port));
  address.length = sizeof *six;
  return true;
}

int setOption(int descriptor, int level, int option, int value) {
  return setsockopt(descriptor, level, option, &value, sizeof value) == 0 ? 0 : errno;
}

int openSocket(const Address& address) {
  return socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int closeWith(int descriptor, int error) {
  close(descriptor);
  return -error;
}

}  // namespace

int Reactor::listen(const std::string& host, int port, int backlog) {
  Address address;
  if (!parse(host, port, address)) return -EINVAL;
  const int descriptor = openSocket(address);
  if (descriptor < 0) return -errno;
  setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  setOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
  if (bind(descriptor, address.get(), address.length) != 0 || ::listen(descriptor, backlog) != 0) {
    return closeWith(descriptor, errno);
  }
  Connection* listener = table_.add(ConnectionKind::listener, descriptor);
  if (listener == nullptr) return closeWith(descriptor, EMFILE);
  if (!watch(*listener)) {
    const int error = errno;
    table_.release(*listener);
    return closeWith(descriptor, error);
  }
  return listener->id;
}

int Reactor::localPort(int32_t listener) const {
  const Connection* connection = table_.find(listener);
  if (connection == nullptr || connection->departed) return 0;
  Address address;
  address.length = sizeof address.storage;
  if (getsockname(connection->descriptor, address.get(), &address.length) != 0) return 0;
  return address.storage.ss_family == AF_INET
             ? ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port)
             : ntohs(reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port);
}

void Reactor::stopListening(int32_t listener) {
  Connection* connection = table_.find(listener);
  if (connection == nullptr || connection->kind != ConnectionKind::listener) return;
  close(connection->descriptor);
  table_.release(*connection);
}

int Reactor::connect(const std::string& host, int port) {
  Address address;
  if (!parse(host, port, address)) return -EINVAL;
  if (open_ >= limits_.maxConnections) return -EMFILE;
  const int descriptor = openSocket(address);
  if (descriptor < 0) return -errno;
  setOption(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  if (::connect(descriptor, address.get(), address.length) != 0 && errno != EINPROGRESS) {
    return closeWith(descriptor, errno);
  }
  Connection* connection = table_.add(ConnectionKind::stream, descriptor);
  if (connection == nullptr) return closeWith(descriptor, EMFILE);
  connection->connecting = true;
  connection->lastProgressMs = now();
  if (!watch(*connection)) {
    const int error = errno;
    table_.release(*connection);
    return closeWith(descriptor, error);
  }
  open_++;
  return connection->id;
}

std::string Reactor::peerAddress(int32_t id) const {
  const Connection* connection = table_.find(id);
  if (connection == nullptr || connection->departed) return "";
  Address address;
  address.length = sizeof address.storage;
  if (getpeername(connection->descriptor, address.get(), &address.length) != 0) return "";
  char text[INET6_ADDRSTRLEN];
  if (address.storage.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(four->sin_port));
  }
  const auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(ntohs(six->sin6_port));
}

int Reactor::setTcpTimers(int32_t id, int rtoMinUs, int delackMaxUs) {
  const Connection* connection = table_.find(id);
  if (connection == nullptr || connection->departed) return ENOTCONN;
  int error = 0;
  if (rtoMinUs > 0) error = setOption(connection->descriptor, IPPROTO_TCP, kTcpRtoMinUs, rtoMinUs);
  if (error == 0 && delackMaxUs > 0) {
    error = setOption(connection->descriptor, IPPROTO_TCP, kTcpDelackMaxUs, delackMaxUs);
  }
  return error;
}

int Reactor::setBuffers(int32_t id, int sendBytes, int receiveBytes) {
  const Connection* connection = table_.find(id);
  if (connection == nullptr || connection->departed) return ENOTCONN;
  int error = 0;
  if (sendBytes > 0) error = setOption(connection->descriptor, SOL_SOCKET, SO_SNDBUF, sendBytes);
  if (error == 0 && receiveBytes > 0) {
    error = setOption(connection->descriptor, SOL_SOCKET, SO_RCVBUF, receiveBytes);
  }
  return error;
}

}  // namespace s3a
