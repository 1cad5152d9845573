"""Small programs about what Python and NumPy do in which order, and whose memory is whose.

tests/test_small_programs.py differentiates each by its array x and its number y: what is not
refused must be right. A heading says what a program is called and whether x is a matrix.
"""

HEAD = """
import collections
import copy
import functools
import itertools
import math
from typing import NamedTuple

import numpy as np

A = np.array


class NT(NamedTuple):
    p: object
    q: object


def pickit(a, b):
    if b > 0:
        return a
    return a * 2


def geta(d):
    return d.get("a")


def geta2(a, b):
    a[2] *= b
    return a


def first(a, *r):
    return a


def bump(L, y):
    L[0] *= y
    return L[0] * L[1]


def bump2(L, y):
    L[0] += bump(L, y)
    L[0] *= 3.0
    return L[0]


"""

TEXTS = r"""
# views_order1 x
i=0
i, x[i] = 1, y*y
return np.sum(x*x)
# views_order2 x
i=0
x[i], i = y*x[1], 2
x[i] = x[0]*x[1]
return np.sum(x*x)
# views_chain x
i = 0
j = x[0] = y*x[2]
return np.sum(x*x)*j
# views_chain2 x
a = x[0] = x[1] = y*x[2]
a = a*2
return np.sum(x*x)*a
# views_overlap1 x
x[1:] = x[:-1]
return np.sum(x*x*x)+y*x[1]
# views_overlap2 x
x[1:] += x[:-1]
return np.sum(x*x*x)+y*x[1]
# views_overlap3 x
x[:-1] *= x[1:]
x[::-1] -= x*y
return np.sum(x*x*x)+y*x[1]
# views_overlap4 x
x[:] = x[::-1]
x += x[::-1]*y
return np.sum(x*x*x)+y*x[1]
# views_copyidx x
x[[0,1]][0] = y
x[x>0][:] = 3.
return np.sum(x*x)*y
# views_fancyaug x
x[[0,0,1]] += A([1.,2.,3.])*y
return np.sum(x*x)
# views_fancyaug2 x
x[[0,0,1]] *= A([1.,2.,3.])*y
return np.sum(x*x)
# views_fancyset x
x[[0,0,1]] = x[[2,1,0]]*y
return np.sum(x*x*x)
# views_zerod x
z=np.array(1.)
for t in x: z += t*y
z[()] *= y
return z*z
# views_zerod2 x
z=x[0, ...]
z *= y
return np.sum(x*x)*z
# views_zerod3 x
z=np.zeros(())
w=z
z += y*x[0]
return w*x[1]
# views_real x
r=np.real(x)
r[0]=y
r *= x[1]
return np.sum(x*x)
# views_real2 x
r=x.real
r[0]=y*x[2]
return np.sum(x*x)
# views_ein M
d=np.einsum("ii->i", x)
d *= y
d[0]=x[0,1]
return np.sum(x*x)
# views_ein2 M
d=np.einsum("ij->ji", x)
d[0] *= y
return np.sum(x*x)
# views_rowloop M
for row in x: row *= y
return np.sum(x*x)
# views_rowloop2 M
for i,row in enumerate(x): row[i] = y*row[0]
return np.sum(x*x)
# views_rowloop3 M
for row in x.T: row[:2] = row[1:]*y
return np.sum(x*x)
# views_rows M
a,b,c = x
a[:] = b*y
b += c
return np.sum(x*x)
# views_rowstar M
a,*b = x
a[:] = b[0]*y
b[1] *= a
return np.sum(x*x)
# views_rowlist M
r=list(x)
r[0][:] = r[1]*y
r[1]=r[1]*2
return np.sum(x*x)+np.sum(r[1])
# views_rowzip M
for row,t in zip(x, x[0]): row += t*y
return np.sum(x*x)
# views_rowzip2 M
for row,t in zip(x, x[0].copy()): row += t*y
return np.sum(x*x)
# views_rowmax M
m=max(x, key=lambda r: np.sum(r))
m *= y
return np.sum(x*x)
# views_rowsorted M
m=sorted(x, key=lambda r: np.sum(r))
m[0][:] = m[1]*y
return np.sum(x*x)
# views_rowrev M
for row in reversed(x): row *= x[0]*y
return np.sum(x*x)
# views_rowrev2 M
for row in x[::-1]: row *= x[0]*y
return np.sum(x*x)
# views_ravelT M
r=x.T.ravel()
r[0]=y
return np.sum(x*x)+np.sum(r*r)
# views_ravel M
r=x.ravel()
r[0]=y
r[4]*=y
return np.sum(x*x)+np.sum(r*r)
# views_ravelF M
r=x.ravel(order="F")
r[0]=y
r[4]*=y
return np.sum(x*x)+np.sum(r*r)
# views_reshT M
r=x.T.reshape(-1)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_reshslice M
r=x[:,:2].reshape(-1)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_reshrow M
r=x[1:].reshape(-1)
r[1]=y
r*=x[0,0]
return np.sum(x*x)+np.sum(r*r)
# views_astype M
r=x.astype(float)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_astypeF M
r=x.astype(float, copy=False)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_ascont M
r=np.ascontiguousarray(x)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_ascontT M
r=np.ascontiguousarray(x.T)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_asarr M
r=np.asarray(x)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_arrcopyF M
r=np.array(x, copy=None)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_ndmin M
r=np.array(x[0], ndmin=2)
r[0,1]=y
return np.sum(x*x)+np.sum(r*r)
# views_atl M
r=np.atleast_2d(x[0])
r[0,1]=y
return np.sum(x*x)+np.sum(r*r)
# views_atl3 M
r=np.atleast_3d(x)
r[0,1]=y
return np.sum(x*x)+np.sum(r*r)
# views_squeeze M
r=x[:1].squeeze()
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_nan M
r=np.nan_to_num(x, copy=False)
r[1]=y
return np.sum(x*x)+np.sum(r*r)
# views_swin M
r=np.lib.stride_tricks.sliding_window_view(x[0],2)
x[0,1]=y
return np.sum(x*x)+np.sum(r*r)
# views_split M
a,b=np.split(x[0],[1])
a[0]=y
b*=a[0]
return np.sum(x*x)
# views_hsplit M
a,b,c=np.hsplit(x,3)
a[0]=y
b*=a[0]
return np.sum(x*x)
# views_vsplit M
a=np.vsplit(x,3)
a[0][:]=y
a[1]*=a[0]
return np.sum(x*x)
# views_rot M
r=np.rot90(x)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r*r)
# views_flip M
r=np.flip(x,0)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r*r)
# views_diagonal M
x.flat[::4] = y
return np.sum(x*x*x)
# views_filld M
np.fill_diagonal(x, x[0]*y)
return np.sum(x*x*x)
# views_tri M
x[np.triu_indices(3)] *= y
return np.sum(x*x*x)
# views_ix M
x[np.ix_([0,2],[1,0])] = x[:2,:2]*y
return np.sum(x*x*x)
# views_mask2 M
x[x>.2] = (x[x>.2]*y)[::-1]
return np.sum(x*x*x)
# views_maskrow M
x[x[:,0]>.2] *= x[0]*y
return np.sum(x*x*x)
# views_newaxis M
r=x[0][:,None]
r[1]=y
r*=x[1,1]
return np.sum(x*x*x)
# views_moveax M
r=np.moveaxis(x,0,1)
r[1]=y*r[0]
return np.sum(x*x*x)
# views_setdef x
d={}
d.setdefault("a",x)[0]=y
d["a"] *= y
return np.sum(x*x)
# views_get x
d={"a":x}
r=d.get("a")
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["a"])
# views_iter x
L=[x,x*2]
r=L.pop(0)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(L[0])
# views_ternalias x
r=x if y>0 else x*2
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r)
# views_oralias x
L=[]
r=(L or [x])[0]
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r)
# views_augalias x
r=x
r += y
r = r*2
r += x
return np.sum(x*x)+np.sum(r)
# views_augfloat x
r=y
r += x
r += x
return np.sum(x*x)+np.sum(r*r)
# views_iadd_list x
a=[x]
b=a
b += [x*y]
b = b + [x]
return sum(np.sum(t*t) for t in a)+len(b)*y
# views_imul_list x
a=[y,y*2]
b=a
a *= 2
a[0]=x[0]
return sum(a)*b[0]*b[3]
# views_sliceset x
a=[y,y*2,x[0]]
a[1:1]=[x[1],x[2]]
a[::2]=[a[1],a[0],a[3]]
return a[0]*a[1]+a[2]*a[3]+a[4]
# views_delsl x
a=[y,y*2,x[0],x[1]]
del a[::2]
a.insert(-1,x[2])
return a[0]*a[1]+a[2]
# views_remove x
a=[y,x[0],x[1]]
a.reverse()
b=a.index(y)
a[b]*=2
return a[0]*a[1]+a[2]*a[2]
# views_listmodloop x
a=[y]
for t in a:
    if len(a)<4: a.append(t*x[len(a)-1])
return sum(a)
# views_dictord x
d={"b":y,"a":x[0]}
s=0.
for k in sorted(d): s=s*2+d[k]
for k,v in d.items(): s=s*v+1
return s
# views_dictdel x
d={"b":y,"a":x[0]}
del d["b"]
d["b"]=x[1]
s=0.
for k,v in d.items(): s=s*2+v
return s
# views_dictval x
d={"b":x,"a":x*y}
for v in d.values(): v *= y
return np.sum(x*d["a"])
# views_dictcomp x
d={k:x*k for k in range(3)}
d[1][0]=y
e={**d,1:x}
e[2] *= y
return np.sum(d[2]*d[1])+np.sum(e[1])
# views_fromkeys x
d=dict.fromkeys("ab",x)
d["a"][0]=y
return np.sum(d["b"]*d["b"])
# views_fromkeys2 x
d=dict.fromkeys("ab",x)
d["a"]=d["b"]*y
d["b"][1]=y
return np.sum(d["b"]*d["a"])
# views_listmul x
L=[np.zeros(3)]*2
L[0] += x*y
L[1][0] *= y
return np.sum(L[0]*L[1])
# views_listmul2 x
L=[x.copy()]*2
L[0] = L[0]*y
L[1][0] *= y
return np.sum(L[0]*L[1])
# views_copycopy x
import copy
L=[x,[x]]
K=copy.copy(L)
K[1].append(x*y)
K[0]=x*2
return np.sum(L[0])*y+sum(np.sum(t*t) for t in L[1])
# views_deepcopy x
import copy
L=[x,x]
K=copy.deepcopy(L)
K[0][0]=y
return np.sum(L[0])*y+sum(np.sum(t*t) for t in K)
# held_getdef x
d={"a":x}
r=d.get("b",x)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["a"])
# held_getdef2 x
d={"a":x*2}
r=d.get("a",x)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["a"])
# held_getloop x
d={k:x*k for k in range(3)}
for k in range(4):
    r=d.get(k,x)
    r[0]=y*r[1]
return np.sum(x*x)+np.sum(d[2]*d[1])
# held_getchain x
d={"a":{"b":x}}
r=d.get("a").get("b")
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["a"]["b"])
# held_getchain2 x
d={"a":[x]}
r=d.get("a")
r[0][0]=y*r[0][1]
r.append(x*y)
return np.sum(x*x)+sum(np.sum(t) for t in d["a"])
# held_maxlist x
L=[x,x*.5]
m=max(L,key=lambda r: np.sum(r))
m[0]=y*m[1]
return np.sum(x*x)+np.sum(L[1]*L[0])
# held_minlist x
L=[x,x*.5]
m=min(L,key=lambda r: np.sum(r))
m *= y
return np.sum(x*x)+np.sum(L[1]*L[0])
# held_popdict x
d={"a":x,"b":x*y}
r=d.pop("a")
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["b"])
# held_popdef x
d={"b":x*y}
r=d.pop("a",x)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["b"])
# held_popitem x
d={"b":x*y,"a":x}
k,r=d.popitem()
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["b"])
# held_nextiter x
L=[x,x*y]
r=next(iter(L))
r[0]=y*r[1]
return np.sum(x*x)+np.sum(L[1])
# held_nextgen x
L=[x,x*y]
r=next(t for t in L if t[0]>0)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(L[1])
# held_listval x
d={"a":x,"b":x*y}
r=list(d.values())[0]
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["b"])
# held_starval x
d={"a":x,"b":x*y}
r,q=d.values()
r[0]=y*q[1]
q[0]*=y
return np.sum(x*x)+np.sum(d["b"])
# held_sortedl x
L=[x,x*.5]
m=sorted(L,key=lambda r: np.sum(r))
m[0][0]=y*m[1][1]
return np.sum(x*x)+np.sum(L[1]*L[0])
# held_filterl x
L=[x,x*.5]
m=[t for t in L if np.sum(t)>.7]
m[0][0]=y*m[0][1]
return np.sum(x*x)+np.sum(L[1]*L[0])
# held_helper x
r=pickit(x,y)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r)
# held_helper2 x
d={"a":x}
r=geta(d)
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r)
# held_lam x
g=lambda: x
r=g()
r[0]=y*r[1]
return np.sum(x*x)+np.sum(r)
# held_tupidx x
t=(x,x*y)
r=t[0]
r[0]=y*r[1]
return np.sum(x*x)+np.sum(t[1])
# held_namedt x
t=NT(x,x*y)
r=t.p
r[0]=y*r[1]
u=t._replace(q=r)
u.q[1]=y
return np.sum(x*x)+np.sum(t[1])
# held_ternd x
d={"a":x,"b":x*2}
r=d["a"] if y>0 else d["b"]
r[0]=y*r[1]
return np.sum(x*x)+np.sum(d["b"])
# held_ord x
d={"a":x,"b":x*2}
r=d.get("c") or d
r["a"][0]=y*x[1]
return np.sum(x*x)+np.sum(d["b"])
# held_getnone x
d={"a":x,"b":x*2}
r=d.get("c")
if r is None: r=x
r[0]=y*x[1]
return np.sum(x*x)+np.sum(d["b"])
# held_isnone x
d={"a":x,"b":x*2}
r=d.get("a")
if r is not None: r[0]=y*x[1]
return np.sum(x*x)+np.sum(d["b"])
# held_red x
import functools
r=functools.reduce(lambda a,b: a, [x,x*2])
r[0]=y*x[1]
return np.sum(x*x)
# held_chainm x
import itertools
for r in itertools.chain([x],[x*2]): r[0]=y*r[1]
return np.sum(x*x)
# held_chainm2 x
L=[x]
M=[x*2]
for r in L+M: r[0]=y*r[1]
return np.sum(x*x)+np.sum(M[0])
# held_enumv x
L=[x,x*2]
for k,r in enumerate(L): r[k]=y*r[2]
return np.sum(x*x)+np.sum(L[1])
# held_zipv x
L=[x,x*2]
for r,q in zip(L,L[::-1]): r[0]=y*q[2]+r[1]
return np.sum(x*x)+np.sum(L[1])
# held_defarg x
def g(a,b=x):
    b[0]=a*b[1]
    return b
r=g(y)
r[1]=y
return np.sum(x*x)
# held_partial x
import functools
g=functools.partial(geta2,x)
r=g(y)
r[1]=y
return np.sum(x*x)
# held_star x
r=first(*[x,y])
r[0]=y*r[1]
return np.sum(x*x)
# held_starstar x
r=geta2(**{"a":x,"b":y})
r[0]=y*r[1]
return np.sum(x*x)
# rounds_a x
p=[(0,x),(1,x*2)]
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_b x
p=[(.5,x),(1.5,x*2)]
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_c x
p=[(y,x),(y*2,x*2)]
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_d x
p=[("a",x),("b",x*2)]
for i,t in p: t[0]*=y+len(i)
return np.sum(x*x)+np.sum(p[1][1])
# rounds_e x
p=[(0,(x,1)),(1,(x*2,2))]
for i,(t,k) in p: t[k]*=y+i
return np.sum(x*x)+np.sum(p[1][1][0])
# rounds_f x
p=((0,x),(1,x*2))
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_g x
p=[(0,x),(1,x*2)]
for k,(i,t) in enumerate(p): t[0]*=y+i*k
return np.sum(x*x)+np.sum(p[1][1])
# rounds_h x
p=[(0,x),(1,x*2)]
for (i,t),s in zip(p,x.copy()): t[0]*=y+i*s
return np.sum(x*x)+np.sum(p[1][1])
# rounds_h2 x
p=[(0,x),(1,x*2)]
for (i,t),s in zip(p,x): t[0]*=y+i*s
return np.sum(x*x)+np.sum(p[1][1])
# rounds_i x
p=[(0,x),(1,x*2)]
for i,t in reversed(p): t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_j x
d={"a":x,"b":x*2}
for k,t in d.items(): t[0]*=y+len(k)
return np.sum(x*x)+np.sum(d["b"])
# rounds_k x
d={0:x,1:x*2}
for k,t in sorted(d.items()): t[0]*=y+k
return np.sum(x*x)+np.sum(d[1])
# rounds_l x
p=[[0,x],[1,x*2]]
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_m x
p=[(x[0],x),(x[1],x*2)]
for i,t in p: t[0]*=y+i
return np.sum(x*x)+np.sum(p[1][1])
# rounds_n x
for i,t in enumerate([x,x*2]): t[0]*=y+i
return np.sum(x*x)
# rounds_o x
for t,i in zip([x,x*2],[1,2]): t[0]*=y+i
return np.sum(x*x)
# rounds_p x
for t,i in zip([x,x*2],x): t[0]*=y+i
return np.sum(x*x)
# rounds_q x
for t,i in zip([x,x*2],x): t[0]*=y+i
return np.sum(x*x)*i
# rounds_r x
for i,t in enumerate(x): x[i]=t*y+(x[i-1] if i else 0.)
return np.sum(x*x)*t
# rounds_s x
for i,t in enumerate(x[::-1]): x[i]=t*y+x[i]
return np.sum(x*x)
# rounds_t x
p=[(0,x),(1,x*2)]
q=[]
for i,t in p:
    t[0]*=y+i
    q.append((i,t))
for i,t in q: t[1]*=y
return np.sum(x*x)+np.sum(p[1][1])
# rounds_u x
p=[(0,x),(1,x*2)]
for i,t in p:
    if t[0]>9: break
    t[0]*=y+i
return np.sum(x*x)+np.sum(t)*i
# rounds_v x
for a,b in [(x,1),(x*y,2)]:
    for c,dd in [(a,b),(a*2,b+1)]:
        c[b-1]*=y*dd
return np.sum(x*x)
# rounds_w x
s=0.
for i,t in [(0,x),(1,x*y)]:
    t[i]=t[2]*y
    s=s+np.sum(t*t)
return s*np.sum(x)
# language_nestloop x
s=0.
for i in range(2):
    for j in range(i,3):
        if x[j]<0: continue
        if j-i>1: break
        s+=x[j]*y*i
        y*=1.1
    else: s*=x[0]
return s*y
# language_retloop x
for i in range(3):
    for j in range(3):
        if x[i]*x[j]<0: return x[i]*x[j]*y+i
    y*=x[i]
return y
# language_whileret x
k=0
while True:
    k+=1
    y=y*x[k%3]+.5
    if k>3: return y*k
# language_exc x
s=0.
for t in x:
    try:
        if t<0: raise ValueError("a")
        s+=t*y
    except ValueError as e:
        s-=t*y*y
    else: s*=2
return s
# language_exc3 x
d={"a":x[0]}
s=0.
for k in "abc":
    try: s+=d[k]*y
    except KeyError: s+=y*y
return s
# language_lateb x
fs=[]
for t in x: fs.append(lambda: t*y)
return fs[0]()+fs[1]()
# language_lateb2 x
fs=[lambda a=t: a*y for t in x]
y=y*2
return fs[0]()+fs[1]()
# language_lateb3 x
g=lambda: y*x[0]
y=y*3
r=g()
y=y*2
return r+g()
# language_compscope x
t=y
s=[t*t for t in x]
return sum(s)*t
# language_compscope2 x
s=[x[0]*k for k in range(3) for j in range(k)]
return sum(s)*len(s)*y
# language_compwal x
s=[(w:=t*y) for t in x]
return sum(s)*w
# language_condcomp x
s=[t*y if t>0 else -t for t in x if abs(t)>.4]
return sum(s)*len(s)
# language_setc x
s={round(float(t),3):t*y for t in x}
return sum(s.values())
# language_nonloc x
c=y
def g(a):
    nonlocal c
    c=c*a+1
    return c
r=g(x[0])*g(x[1])
return r*c
# language_nonloc2 x
c=[y]
def g(a):
    c[0]=c[0]*a+1
    return c[-1]
r=g(x[0])*g(x[1])
return r*c[0]
# language_rec x
def g(n,a):
    if n<=0: return a
    return g(n-1,a*y)+g(n-2,a)*x[n%3]
return g(4,x[0])
# language_mutdef x
def g(a,acc=[]):
    return a*y
return g(x[0])+g(x[1])
# language_star x
def g(a,*b,c=2.,**d):
    return a*c+sum(b)*d.get("e",1.)
return g(x[0],*x[1:],e=y)+g(*x,c=y)
# language_kwonly x
def g(*,a,b=y): return a*b
y=y*2
return g(a=x[0])+g(b=x[1],a=x[2])
# language_posonly x
def g(a,/,b): return a*b-b
return g(x[0],b=y)
# language_dec x
def tw(f):
    def h(*a): return f(*a)*2+y
    return h
@tw
def g(a): return a*a
return g(x[0])*g(x[1])
# language_genexp x
return sum(a*b for a,b in zip(x,x[1:]))*max(t*y for t in x)+min(abs(t-y) for t in x)
# language_anyall x
s=y
if any(t<0 for t in x) and all(abs(t)<5 for t in x): s=s*x[0]
return s*x[1]
# language_chaincmp x
s=y
if -1<x[1]<x[0]<x[2]<5: s*=x[0]
if not x[0]==x[1]!=x[2]: s*=x[2]
return s
# language_boolops x
s=(x[0]>9 and x[1]) or x[2]*y
t=x[0] and y
u=None or x[1]*y
return s*t*u
# language_intdiv x
n=7//2; m=-7//2; k=divmod(x[0]*3,.4)
return (x[0]//.2)*y+x[1]%y+k[1]+n*m*y+(-x[0])%.3
# language_powneg x
return (-2)**2*y+x[0]**-1+abs(x[1])**y+2**y+(-x[1])**3
# language_ternnest x
return x[0] if y>5 else (x[1] if y>.6 else x[2])*y
# language_slicing x
a=x[::-1]
b=a[:-1][::-1]
c=b[-2::-1]
return np.sum(b*y)+c[0]+x[-3:-1]@x[1:]
# language_negstep x
x[::-2]=x[::2]*y
x[2:0:-1]+=x[:2]
return np.sum(x*x*np.arange(3.))
# language_ellip x
M=np.outer(x,x)
M[...,0]*=y
M[0,...]=x
M[:,::-1][:,0]+=1.
M[-1:,1:]=M[:1,:2]
return np.sum(M*M)
# language_masknd x
M=np.outer(x,x)
M[M>.1]=y
M[M<0]*=x[0]
M[:,x>0]+=y
M[x>0]*=2
return np.sum(M*M)
# language_fancynd x
M=np.outer(x,x)
M[[0,1],[1,2]]=x[:2]*y
M[[0,2]]+=x
M[:,[0,2]]*=y
M[[0,1,0],[0,0,0]]+=x
return np.sum(M*M)
# language_addat x
a=np.zeros(2)
np.add.at(a,[0,1,0],x*y)
np.subtract.at(a,0,x[1])
np.multiply.at(a,[0,0],y)
return np.sum(a*a)
# language_wh x
a=np.where(x>0,x*y,0.)
b=np.where(a==0,x,a)
np.copyto(a,b*y,where=x<0)
np.putmask(b,x>.6,y)
return np.sum(a*b)
# language_outw x
a=np.ones(3)
np.multiply(x,y,out=a,where=x>0)
b=np.exp(x,out=x)
b[0]=y
return np.sum(a*x)
# language_reduce x
return np.add.reduce(x*y)+np.multiply.reduce(x)+np.maximum.reduce(x)*y+(
    np.logaddexp.reduce(x)+np.add.accumulate(x)[1]*np.subtract.outer(x,x)[0,1]
    +np.add.reduceat(x,[0,1])[1]*y)
# language_cplx x
z=x+1j*y
z[0]*=1j
z.real[1]=y
z.imag*=2
w=z.conj()
w+=1
return np.sum(np.abs(z*w))+np.angle(z[2])+(z*z).imag[0]
# language_cplx2 x
z=complex(x[0],y)
w=z*z.conjugate()+z**2
return w.real*w.imag+abs(z)
# language_swap2 x
a,b=x[0],x[1]
a,b,c=b*y,a+b,a
b,(a,c)=c,(b,a*c)
return a*b*c
# language_unpacknested x
(a,b),*c=[(x[0],y),x[1],x[2]]
[d,e]=c
return a*b*d-e
# language_dictmerge x
d={"a":x[0]}|{"b":y}
d|={"a":d["b"]*x[1]}
e={**d,"c":d.pop("a")}
return sum(e.values())*len(d)+d.get("z",y)
# language_dictset x
d={}
for i,t in enumerate(x): d.setdefault(i%2,[]).append(t*y)
return sum(d[0])*sum(d[1])
# language_dictcount x
d={}
for i,t in enumerate(x): d[i%2]=d.get(i%2,0.)+t*y
return d[0]*d[1]
# language_listops x
L=[]
for t in x:
    L.append(t*y)
    if len(L)>1: L[-2]*=L[-1]
L.extend([y,L[0]])
L.insert(1,x[0])
L.sort()
return L.pop()*L.pop(0)+sum(L)
# language_listops2 x
L=list(x)
L[0],L[-1]=L[-1]*y,L[0]
L.reverse()
M=L+[y]
M[1:3]=[M[2]*y]
del M[0]
return sum(m*k for k,m in enumerate(M,1))
# language_stack x
st=[x]
out=0.
while st:
    a=st.pop()
    if a.size==1: out=out*y+a[0]
    else: st+=[a[:1],a[1:]*y]
return out
# language_deq x
q=collections.deque([y],maxlen=2)
for t in x: q.append(t*q[0])
return sum(q)
# language_accum x
return list(itertools.accumulate([t*y for t in x]))[-1]*x[0]
# language_cls x
class Acc:
    def __init__(self): self.s=0.
    def add(self,v): self.s+=v*y
a=Acc()
for t in x: a.add(t)
return a.s
# language_fstr x
k=f"{len(x)}"
d={k:y}
return d["3"]*x[0]
# language_glob x
global Q
Q=x*y
Q[0]=y
return np.sum(Q*Q)
# language_strm x
s=0.
for c in "abca":
    match c:
        case "a": s+=x[0]*y
        case "b"|"c" if s>9: s+=x[1]
        case _: s*=x[2]
return s
# language_mtup x
match (len(x),y):
    case (3,z) if z<0: r=z
    case (3,q): r=q*x[0]
    case _: r=x[1]
return r
# language_mdict x
match {"k":x,"v":y}:
    case {"k":[a,*b],"v":v}: return v
    case {"k":k,**rest}: return np.sum(k)*rest["v"]
return y
# language_float32 x
a=x.astype(np.float64)
b=np.asarray(a,dtype=float)
b[0]=y
c=a.astype(int)
return np.sum(a*x)+np.sum(c)*y
# language_emptyl x
s=sum([t for t in x if t>9],y)
return s*x[0]
# language_assertw x
assert (n:=len(x))==3
return x[n-1]*y
# language_lamdef x
f=lambda t,k=x[0]: t*k
x=x*2
return f(y)*x[0]
# language_delv x
a=x*y
b=a
del a
a=b*2
b[0]=y
return np.sum(a*b)
# language_tryfin x
def g(a):
    for i in range(3):
        try:
            if x[i]>.6: return a*x[i]
        finally:
            a=a*y
    return a
return g(x[0])+g(y)
# language_augtup x
t=(x[0],)
t+=(y,x[1]*y)
t*=2
return t[1]*t[3]+t[5]
# language_iterarr x
it=[]
for r in np.outer(x,x):
    r[0]=y
    it.append(r)
it[0]*=2
return sum(np.sum(t*t) for t in it)
# language_views x
M=np.outer(x,x)
v=M[1]
w=M[:,1]
v*=w
w+=v[0]*y
M=M.T
M[0]=v
return np.sum(M*M)+v@w
# language_views2 x
a=x.copy()
v=a[1:]
a=a*y
v[0]=y
a[1]+=v[0]
v=a
v+=1
return np.sum(a*v)
# language_views3 x
a=np.zeros((2,3))
for r,s in zip(a,(y,2.)): r+=x*s
for c in a.T: c[1]*=c[0]
return np.sum(a*a)
# added_a x
x[1] += sum(p for p,q in zip(x,x))
x[1] /= 1.5
return np.sum(x*x)*y
# added_b x
x[1] += sum([p for p in x])
x[1] *= y
x[1] += sum([p*q for p,q in zip(x,x)])
x[1] -= y*x[1]
return np.sum(x*x)*y
# added_c x
L=[x[0],x[1]]
L[0] += bump(L,y)
return L[0]*L[1]
# added_d x
L=[x[0],x[1]]
L[0] += bump(L,y)
L[0] *= y
return L[0]*L[1]
# added_e x
x[0] += bump(x,y)
x[0] *= y
return np.sum(x*x)
# added_h x
L=[x[0],x[1]]
L[0] += bump2(L,y)
L[0] *= y
return L[0]*L[1]
# added_i x
x[0] += bump2(x,y)
x[0] *= y
return np.sum(x*x)
# added_j x
L=[x[0],x[1]]
for k in range(2):
    L[0] += bump2(L,y)
    L[0] *= y
    L[1] -= L[0]*.1
return L[0]*L[1]
# added_k x
d={"a":x[0],"b":x[1]}
d["a"] += sum(t*y for t in d.values())
d["a"] *= y
return d["a"]*d["b"]
# added_l x
d={"a":x[0],"b":x[1]}
d["a"] += sum([t*y for t in d.values() if t>-1])
if y>0: d["a"] *= y
else: d["a"] -= 1.
return d["a"]*d["b"]
# added_m x
x[0] += max(t*y for t in x)
x[0] += min(t*y for t in x)
return np.sum(x*x)
# added_n x
x[1:] += sum(p*q for p,q in zip(x,x[1:]))
x[1:] *= y
return np.sum(x*x)
# added_o x
x[[0,1]] += sum(p*q for p,q in zip(x,x[1:]))
x[[0,1]] *= y
return np.sum(x*x)
# beyond_list x
L=[x[0],y]
if len(L)>5: return L[5]
return y*L[0]
# beyond_tried x
try:
    s=[x[0],y][5]
except IndexError: s=x[1]*y
finally: y=y*2
return s*y
# by_zero x
s=0.
for t in x:
    s+=t/0.0 if t>5. else t*y
return s
# finally_behind_if x
if y>.1:
    try: return np.sum(x*x)*y
    finally: x[0]=y
return np.sum(x)
# finally_behind_match x
k=2
match k:
    case 0: pass
    case 2:
        try:
            y=y*2
            if y<100: return np.sum(x*x)*y
        finally: x[0]=y
return np.sum(x)
# finally_behind_loops x
k=2
match k:
    case 2:
        try:
            for t in x:
                if t<100: return np.sum(x*x)*y
        finally: x[0]=y
    case _: y=y*3
return np.sum(x)
"""
