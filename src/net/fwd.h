// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::net {

class Headers;
struct Request;
struct Response;
class StreamBody;
class Handler;
class Server;
class Client;
class AsyncClient;

}  // namespace fairlead::net
