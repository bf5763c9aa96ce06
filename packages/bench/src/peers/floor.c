// The floor: as little as a server on this kernel can do for a keep-alive GET. One epoll loop, no parsing beyond the
// end of the head, no file lookup, no headers that depend on anything. Whatever a cache costs above this is its own.
//
//     floor FILE ANSWER_BYTES
//
// Listens on a port of 127.0.0.1 that the kernel picks and prints it. Each GET is answered with the next ANSWER_BYTES
// of FILE: up to 32 KiB by pread and one writev with the head, above by sendfile behind a head sent with MSG_MORE.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { max_connections = 65536, max_events = 512, copy_limit = 32 << 10 };

struct answer {
  off_t offset;
  size_t body_left;
  size_t head_left;
};

static struct answer answers[max_connections];
static char head[256];
static size_t head_length;
static size_t answer_bytes;
static int file;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* What a short answer has left, head and body in one call. Returns 0 when the socket is full or gone. */
static int write_copied(int fd, struct answer *answer) {
  static char body[copy_limit];
  const ssize_t got = pread(file, body, answer->body_left, answer->offset);
  if (got != (ssize_t)answer->body_left) fail("pread");
  const struct iovec parts[2] = {
      {head + head_length - answer->head_left, answer->head_left},
      {body, answer->body_left},
  };
  const ssize_t sent = writev(fd, parts, 2);
  if (sent < 0) return 0;
  const size_t of_head = (size_t)sent < answer->head_left ? (size_t)sent : answer->head_left;
  answer->head_left -= of_head;
  answer->offset += sent - (ssize_t)of_head;
  answer->body_left -= (size_t)sent - of_head;
  return 1;
}

static int send_from_file(int fd, struct answer *answer) {
  if (answer->head_left > 0) {
    const char *rest = head + head_length - answer->head_left;
    const ssize_t sent = send(fd, rest, answer->head_left, MSG_MORE);
    if (sent < 0) return 0;
    answer->head_left -= (size_t)sent;
    if (answer->head_left > 0) return 0;
  }
  const ssize_t sent = sendfile(fd, file, &answer->offset, answer->body_left);
  if (sent <= 0) return 0;
  answer->body_left -= (size_t)sent;
  return 1;
}

static void go_on(int fd) {
  struct answer *answer = &answers[fd];
  while (answer->body_left > 0) {
    const int went = answer_bytes <= copy_limit ? write_copied(fd, answer) : send_from_file(fd, answer);
    if (!went) return;
  }
}

/* Returns 0 when the client is gone. */
static int take_request(int fd, off_t offset) {
  static char request[16384];
  const ssize_t got = recv(fd, request, sizeof request, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return 0;
  if (got >= 4 && memcmp(request + got - 4, "\r\n\r\n", 4) == 0) {
    answers[fd] = (struct answer){offset, answer_bytes, head_length};
  }
  return 1;
}

static void accept_one(int listener, int events) {
  const int one = 1;
  const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  if (fd < 0) return;
  if (fd >= max_connections) {
    close(fd);
    return;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  answers[fd] = (struct answer){0, 0, 0};
  struct epoll_event wanted = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd};
  if (epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) != 0) fail("epoll_ctl");
}

static int listen_locally(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0) fail("bind");
  if (listen(listener, 4096) != 0) fail("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) fail("getsockname");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: floor FILE ANSWER_BYTES\n");
    return 2;
  }
  file = open(arguments[1], O_RDONLY);
  answer_bytes = strtoull(arguments[2], NULL, 10);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) fail(arguments[1]);
  const off_t places = status.st_size / (off_t)answer_bytes;
  if (places == 0) {
    fprintf(stderr, "%s is shorter than an answer\n", arguments[1]);
    return 2;
  }
  head_length = (size_t)snprintf(head, sizeof head,
                                 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
                                 "Content-Type: application/octet-stream\r\n"
                                 "ETag: \"0123456789abcdef0123456789abcdef\"\r\nAccept-Ranges: bytes\r\n\r\n",
                                 answer_bytes);
  const int listener = listen_locally();
  const int events = epoll_create1(0);
  struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listener};
  if (epoll_ctl(events, EPOLL_CTL_ADD, listener, &wanted) != 0) fail("epoll_ctl");
  struct epoll_event ready[max_events];
  unsigned long requests = 0;
  for (;;) {
    const int woken = epoll_wait(events, ready, max_events, -1);
    for (int i = 0; i < woken; i++) {
      const int fd = ready[i].data.fd;
      if (fd == listener) {
        accept_one(listener, events);
        continue;
      }
      if (answers[fd].body_left == 0 && (ready[i].events & EPOLLIN) != 0) {
        // A large odd step, so that successive answers come from all over the file.
        const off_t place = (off_t)(requests++ * 7919) % places;
        if (!take_request(fd, place * (off_t)answer_bytes)) {
          close(fd);
          continue;
        }
      }
      go_on(fd);
    }
  }
}
