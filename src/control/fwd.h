// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::control {

struct ObjectId;
struct Request;
class Transport;
class Client;
class Fence;
class FencedStore;
class Informer;
class Index;
class WorkQueue;
class Reconciler;
class Context;
class EventRecorder;
class Elector;
class Manager;
class ControlThread;

}  // namespace fairlead::control
